/** What goes beyond asking agents: a script that asks many, work that a command checks, and a page about it all. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { converse, lastUserSays, type PiRpc, type Reply, say, when } from "@pi-subagents-dev/testkit";
import type { Comparison, Work } from "./comparison.ts";
import { type Contender, featureFiles, forEach } from "./contenders.ts";
import { onStage, until } from "./stage.ts";

const TASK = "Look around.";
const MANY = 50;

export const features: readonly Comparison[] = [
	{
		lines: [
			{
				name: `a script asks ${MANY} agents: from the call to its result`,
				unit: "ms",
				floor: "bare sessions",
				target: { ratio: 1.5 },
			},
		],
		work: forEach(({ extension, script }) =>
			typeof script === "string" ? script : timing(extension, script(TASK, MANY)),
		),
	},
	{
		lines: [
			{
				name: "an agent whose work a command checks: from the call to its answer",
				unit: "ms",
				floor: "a bare session, then the command",
				target: { ratio: 2 },
			},
		],
		work: forEach(({ extension, checked }) =>
			typeof checked === "string" ? checked : timing(extension, checked(TASK)),
		),
	},
	{
		lines: [
			{
				name: `a page about ${MANY} agents: from the command to the file`,
				unit: "ms",
				floor: "pi's own page about the session",
				target: { ratio: 2 },
			},
		],
		work: forEach((contender, who) => {
			if (who === "floor") return reporting(contender, exported);
			return who === "ours" ? reporting(contender, reported) : "has no report";
		}),
	},
];

/** From the call until the parent comes back with what it gave. */
function timing(extension: string, call: Reply): Work {
	return async () => {
		const times = { called: 0, answered: 0, asked: 0 };
		const rules = [
			converse(
				lastUserSays("Begin."),
				() => {
					Object.assign(times, { called: performance.now(), asked: 0 });
					return call;
				},
				() => {
					times.answered = performance.now();
					return say("Done.");
				},
			),
			when(lastUserSays(TASK), () => {
				times.asked++;
				return say("All seen.");
			}),
		];
		const work = async ({ rpc }: { rpc: () => PiRpc }) => {
			const pi = rpc();
			await pi.prompt("Begin."); // the first loads what is loaded late
			await pi.prompt("Begin.");
			if (times.asked === 0) throw new Error("no agent was at work");
			return [times.answered - times.called];
		};
		return onStage([extension], rules, work, featureFiles);
	};
}

function reporting({ extension, ask }: Contender, write: (pi: PiRpc, cwd: string) => Promise<string>): Work {
	const rules = [
		converse(lastUserSays("Begin."), ask(TASK, { count: MANY }), say("Done.")),
		when(lastUserSays(TASK), say("All seen.")),
	];
	return () =>
		onStage([extension], rules, async ({ rpc, env: { cwd } }) => {
			const pi = rpc();
			await pi.prompt("Begin.");
			await write(pi, cwd); // the first loads what is loaded late
			const start = performance.now();
			const path = await write(pi, cwd);
			const took = performance.now() - start;
			if (!existsSync(path)) throw new Error(`${path} is missing`);
			return [took];
		});
}

async function exported(pi: PiRpc, cwd: string): Promise<string> {
	const response = await pi.send({ type: "export_html" });
	const { data } = response as unknown as { data: { path: string } };
	return resolve(cwd, data.path);
}

async function reported(pi: PiRpc): Promise<string> {
	const { length } = pi.events;
	await pi.send({ type: "prompt", message: "/subagent report" });
	return until("the report says where it is", async () => {
		const since = JSON.stringify(pi.events.slice(length));
		return /\/[^"\s\\]+\.html/.exec(since)?.[0];
	});
}
