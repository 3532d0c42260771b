/**
 * `npm run test:fuzz -- [--minutes 10] [--seed N] [--only words]`: feeds all targets in turn, each for some seconds at a
 * time, until the time is up. A failure is printed with its seed and its smallest input, and the target goes on with the
 * next seed.
 */
import { parseArgs } from "node:util";
import { removeRuns } from "./src/targets/runs.ts";
import { removeWorktrees } from "./src/targets/worktrees.ts";
import { slowTargets, targets } from "./src/targets.ts";

const { values } = parseArgs({
	options: {
		minutes: { type: "string", default: "10" },
		seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
		only: { type: "string", default: "" },
	},
});
const TURN_MS = 5_000;
const MAX_SHOWN = 4_000;
const chosen = [...targets, ...slowTargets].filter(({ name }) => name.includes(values.only));
const end = Date.now() + Number(values.minutes) * 60_000;
let seed = Number(values.seed);
console.log(`${chosen.length} targets for ${values.minutes} minutes, from seed ${seed}`);

const inputs = new Map<string, number>();
const failures = new Set<string>();
for (let round = 1; Date.now() < end; round++) {
	for (const { name, run } of chosen) {
		if (Date.now() >= end) break;
		seed = (seed + 1) % 2 ** 31;
		try {
			const done = await run({ seed, inputs: Number.MAX_SAFE_INTEGER, ms: Math.min(TURN_MS, end - Date.now()) });
			inputs.set(name, (inputs.get(name) ?? 0) + done);
		} catch (error) {
			if (error instanceof Error && error.message.startsWith("Property interrupted after 0 tests")) continue; // a busy machine
			failures.add(name);
			console.log(`FAILED ${name} (seed ${seed}):\n${textOf(error)}\n`);
		}
	}
	if (round % 5 === 0) console.log(`round ${round}: ${total()} inputs, ${failures.size} targets failed`);
}
await removeRuns();
await removeWorktrees();
for (const [name, count] of inputs) console.log(`${String(count).padStart(9)}  ${name}`);
console.log(
	JSON.stringify({
		minutes: Number(values.minutes),
		targets: chosen.length,
		inputs: total(),
		lastSeed: seed,
		failed: [...failures],
	}),
);
process.exitCode = failures.size > 0 ? 1 : 0;

function textOf(error: unknown): string {
	if (!(error instanceof Error)) return String(error);
	const cause = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : "";
	return `${error.message.slice(0, MAX_SHOWN)}\n${cause.slice(0, MAX_SHOWN)}`;
}

function total(): number {
	return [...inputs.values()].reduce((sum, count) => sum + count, 0);
}
