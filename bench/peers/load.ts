/** What each adds to the start of pi, in time and memory. */
import { otherwise, say } from "@pi-subagents-dev/testkit";
import { type Start, startToExit } from "../worlds/start.ts";
import type { Comparison } from "./comparison.ts";
import { type Contender, forEach } from "./contenders.ts";
import { onStage } from "./stage.ts";

const floor = "pi alone";
/** The first start of a package compiles it. */
const warmed = new Set<string>();

export const load: Comparison[] = [
	{
		lines: [{ name: "start to exit of pi, warm", unit: "ms", floor, target: { ratio: 1.07 } }],
		work: starts({ isCold: false }),
	},
	{
		lines: [{ name: "start to exit of pi, cold", unit: "ms", floor, target: { ratio: 1.4 } }],
		work: starts({ isCold: true }),
		rounds: 2,
	},
	{
		lines: [{ name: "most memory of pi after one turn", unit: "MB", floor, target: { ratio: 1.05 } }],
		work: forEach((contender, who) => async () => [await memoryWith(who === "floor" ? undefined : contender)]),
		rounds: 2,
	},
];

function starts(how: Pick<Start, "isCold">): Comparison["work"] {
	return forEach(({ extension }, who) => async () => {
		const start = { ...how, extensions: who === "floor" ? [] : [extension] };
		if (!how.isCold && !warmed.has(who)) await startToExit(start);
		warmed.add(who);
		return [await startToExit(start)];
	});
}

function memoryWith(contender: Contender | undefined): Promise<number> {
	const extensions = contender ? [contender.extension] : [];
	return onStage(extensions, [otherwise(say("Hello."))], async ({ rpc, probe }) => {
		const pi = rpc();
		await pi.prompt("Hello?");
		return (await probe(pi.pid)).maxRssMb;
	});
}
