/** A session with one agent, for tests that leave it in some way and come back. */
import { join } from "node:path";
import {
	callTool,
	createGate,
	lastUserSays,
	type PiRpc,
	type PiTarget,
	type Reply,
	say,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { expect } from "vitest";
import { jsonOf, launchesIn, processesOf, toldIn } from "./detached.ts";
import { parentSays, type Scene, scene, scoutSays } from "./scene.ts";

const ANSWER = "The code is heliotrope.";
export const RUNNING = "1 of 1 detached running";
export const ENDED = "0 of 1 detached running";

export const detached = callTool("background_agent", { preset: "repo-scout", task: "Find the code." });
export const inside = callTool("Agent", {
	prompt: "Find the code.",
	description: "find it",
	subagent_type: "repo-scout",
});

/** What a person does in a terminal, for pi without one. */
const walker = `export default (pi) => {
	pi.registerCommand("walk", { description: "to an entry", handler: async (entry, ctx) => void (await ctx.navigateTree(entry)) });
	pi.registerCommand("again", { description: "reload", handler: (_args, ctx) => ctx.reload() });
};`;

/** A parent that launches one scout, which answers when the gate opens. */
export async function oneScout(launch: Reply) {
	const [gate, thought] = [createGate(), createGate()];
	const it = await scene(
		[
			when(lastUserSays("task-notification"), say("Noted.")),
			parentSays(launch, say("It is on its way.")),
			scoutSays({ ...say(ANSWER), gate }),
			when(lastUserSays("Hello"), say("Hello.")),
			when(lastUserSays("Think"), { ...say("I have thought."), gate: thought }),
		],
		{ files: { "walker.ts": walker } },
	);
	return { ...it, gate, thought };
}

export const target = ({ env }: Scene, more: Partial<PiTarget> = {}): PiTarget => ({
	env,
	extensions: ["walker.ts"],
	...more,
});

export async function fileOf(pi: PiRpc): Promise<string> {
	const response = await pi.send({ type: "get_state" });
	if (!response.success || response.command !== "get_state" || !response.data.sessionFile)
		throw new Error("no session");
	return response.data.sessionFile;
}

/** Where in its tree the session is. */
export async function leafOf(pi: PiRpc): Promise<string> {
	const response = await pi.send({ type: "get_entries" });
	if (!response.success || response.command !== "get_entries") throw new Error("no entries");
	return response.data.leafId ?? "";
}

/** What happens in the session from now on begins no turn. */
export function quiet(pi: PiRpc): () => void {
	const from = pi.events.length;
	return () => expect(pi.events.slice(from).filter(({ type }) => type === "agent_start")).toEqual([]);
}

export async function theRun(file: string) {
	const [run] = await until("a launch is in the session", async () => {
		const runs = await launchesIn(file);
		return runs.length > 0 ? runs : undefined;
	});
	if (!run) throw new Error("there is none");
	return {
		...run,
		hasEnded: () => until("the run has ended", () => jsonOf(join(run.artifacts, "result.json"))),
		isGone: () => until("its processes are gone", async () => (await processesOf(run)).length === 0 || undefined),
	};
}

/** Told once, of this. */
export async function tells(file: string, expected: { status: string; preview: string }): Promise<void> {
	await until("the session is told", async () => (await toldIn(file))[0]);
	expect(await toldIn(file)).toEqual([expect.objectContaining(expected)]);
}

export const completed = { status: "completed", preview: ANSWER };
export const interrupted = { status: "aborted", preview: "" };

export function isScout({ systemPrompt }: { systemPrompt: string }): boolean {
	return systemPrompt.includes("You are the repo scout.");
}
