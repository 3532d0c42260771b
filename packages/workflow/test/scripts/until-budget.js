export const meta = {
  name: 'as-much-as-paid-for',
  description: 'Look for bugs while there is budget, or until ten are found',
}
const bugs = []
const BUGS_SCHEMA = { type: 'object', properties: { bugs: { type: 'array' } }, required: ['bugs'] }
while (bugs.length < 10 && (!budget.total || budget.remaining() > 20)) {
  const result = await agent('Find bugs in this codebase.', { schema: BUGS_SCHEMA, effort: 'low' })
  if (!result) break
  bugs.push(...result.bugs)
  log(`${bugs.length}/10 found, ${Math.round((budget.remaining() ?? 0) / 10)} left`)
}
return { bugs: bugs.length, spent: budget.spent() }
