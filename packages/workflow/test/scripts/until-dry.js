export const meta = {
  name: 'bug-hunt',
  description: 'Hunt bugs with several finders until two rounds find nothing new, judge each by majority',
  phases: [{ title: 'Find' }, { title: 'Judge' }],
}
const BUGS = { type: 'object', properties: { bugs: { type: 'array' } }, required: ['bugs'] }
const VERDICT = { type: 'object', properties: { real: { type: 'boolean' } }, required: ['real'] }
const FINDERS = [{ key: 'input' }, { key: 'races' }]
const key = b => `${b.file}:${b.line}`

const seen = new Set(), confirmed = []
let dry = 0
while (dry < 2) {
  phase('Find')
  const found = (await parallel(FINDERS.map(f => () =>
    agent(`Find bugs about ${f.key}. Known: ${[...seen].join(', ') || 'none'}`, { phase: 'Find', label: f.key, schema: BUGS })
  ))).filter(Boolean).flatMap(r => r.bugs)
  const fresh = found.filter(b => !seen.has(key(b)))
  if (!fresh.length) { dry++; continue }
  dry = 0
  fresh.forEach(b => seen.add(key(b)))
  const judged = await parallel(fresh.map(b => () =>
    parallel(['correctness', 'security', 'repro'].map(lens => () =>
      agent(`Judge "${b.desc}" via the ${lens} lens: is it real?`, { phase: 'Judge', label: `${lens}:${key(b)}`, schema: VERDICT })
    )).then(vs => ({ b, real: vs.filter(Boolean).filter(v => v.real).length >= 2 }))
  ))
  confirmed.push(...judged.filter(v => v.real).map(v => v.b))
}
return confirmed
