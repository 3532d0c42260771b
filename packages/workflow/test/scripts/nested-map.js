'use strict'
// Calls a saved workflow for each package, with bounded concurrency.
export const meta = {
  name: 'all-packages',
  description: 'Runs another workflow ' + 'for every package',
};

const startedAt = Date.now()
const packages = Array.isArray(args) ? args : ['core', 'tools', 'report']
const seen = await map(packages, async (name, index) => {
  const result = await workflow('one-package', { name, index })
  return { name, result }
}, { concurrency: 2 })
console.log('took', new Date() - startedAt >= 0 ? 'some time' : 'none')
return Object.fromEntries(seen.map(({ name, result }) => [name, result]))
