export const meta = {
  name: 'find-flaky-tests',
  description: 'Find flaky tests and propose fixes',
  phases: [
    { title: 'Scan', detail: 'grep test logs for retries' },
    { title: 'Fix', detail: 'one agent per flaky test', model: 'haiku' },
  ],
}

const FLAKY_SCHEMA = {
  type: 'object',
  properties: { tests: { type: 'array', items: { type: 'string' } } },
  required: ['tests'],
}

phase('Scan')
const flaky = await agent('grep CI logs for retry markers', { schema: FLAKY_SCHEMA })
log(`${flaky.tests.length} flaky tests`)

phase('Fix')
const fixes = await parallel(flaky.tests.map(t => () =>
  agent(`Fix the flaky test ${t}`, { label: `fix:${t}`, isolation: 'worktree' })
))
return { fixed: fixes.filter(Boolean).length, of: flaky.tests.length }
