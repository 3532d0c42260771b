/** Loaded into the wrapper (`--require`): a pi that does not begin is asked about it soon, not every 2 s. */
const { setTimeout } = globalThis;
globalThis.setTimeout = (work, ms, ...more) => setTimeout(work, ms === 2_000 ? 50 : ms, ...more);
