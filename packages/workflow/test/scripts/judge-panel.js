export const meta = {
  name: 'design-panel',
  description: 'Several designs, scored by judges; the best is written down with the best ideas of the others',
  phases: ['Design', 'Judge', 'Write'],
  onError: 'throw',
}
const { task, angles = ['simplest first', 'risk first', 'user first'] } = args
const SCORE = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] }

phase('Design')
const designs = (await parallel(angles.map((angle, i) => () => agent(
  `Design: ${task}. Angle: ${angle}`, { label: `design ${i + 1}`, agentType: 'Plan' }
)))).filter(Boolean)
if (designs.length === 0) return 'no design'

phase('Judge')
const scored = await Promise.all(designs.map(async (design, i) => {
  const votes = await parallel([1, 2].map(n => () => agent(`Score (judge ${n}): ${design}`, { schema: SCORE, label: `judge ${i + 1}.${n}` })))
  return { design, score: votes.filter(Boolean).reduce((sum, { score }) => sum + score, 0) }
}))
scored.sort((a, b) => b.score - a.score)

phase('Write')
try {
  return await agent(`Write down: ${scored[0].design}. Runners-up: ${scored.slice(1).map(s => s.design).join('; ')}`, { resume: 'design 1' })
} catch (error) {
  return `could not be written: ${error.message}`
}
