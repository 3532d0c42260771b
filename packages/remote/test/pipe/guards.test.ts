/** Agents on another machine are guarded by what guards the pi of that machine, whatever the order says. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentUi } from "@pi-subagents/core";
import { callTool, say } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { remoteRunner } from "../../src/index.ts";
import { type RemoteWorld, remoteWorld } from "../fixtures/remote-world.ts";

async function guardedWorld(code: string): Promise<RemoteWorld> {
	const world = await remoteWorld(({ lastToolResults }) =>
		lastToolResults.length > 0 ? say("Done.") : callTool("bash", { command: "echo heliotrope" }),
	);
	const dir = join(world.env.agentDir, "extensions");
	await mkdir(dir, { recursive: true });
	await writeFile(join(dir, "gate.ts"), code);
	return world;
}

test("a guard of the other machine's user refuses a call there", async () => {
	await using world = await guardedWorld(
		`export default (pi) => { pi.on("tool_call", () => ({ block: true, reason: "Not on this machine." })); };`,
	);
	const { options, spec, server } = world;
	expect(await remoteRunner(options).start(spec, () => undefined).settled).toMatchObject({ status: "completed" });
	expect(server.requests.flatMap(({ lastToolResults }) => lastToolResults.map(({ text }) => text))).toEqual([
		"Not on this machine.",
	]);
});

test("a guard that does not load there refuses the launch, and nothing is asked of a model", async () => {
	await using world = await guardedWorld(`throw new Error("broken gate");`);
	const { options, spec, server } = world;
	expect(await remoteRunner(options).start(spec, () => undefined).settled).toMatchObject({
		status: "failed",
		error: expect.stringMatching(/which extensions guard agents on that machine.*gate\.ts.*broken gate/s),
	});
	expect(server.requests).toEqual([]);
});

const ASKING = `export default (pi) => {
	pi.on("tool_call", async (_event, { ui, mode, hasUI }) => {
		const isAllowed = await ui.confirm("Allow?", "It runs a command.");
		return { block: true, reason: JSON.stringify([mode, hasUI, isAllowed]) };
	});
};`;

test("a guard there asks the user here, and gets the answer", async () => {
	await using world = await guardedWorld(ASKING);
	const { options, spec, server } = world;
	const asked: unknown[] = [];
	const ui: AgentUi = {
		canAnswer: () => true,
		async ask(agentId, dialog) {
			asked.push([agentId, dialog]);
			return { confirmed: true };
		},
		notify: () => undefined,
	};
	await remoteRunner({ ...options, ui }).start(spec, () => undefined).settled;
	expect(asked).toEqual([[spec.agentId, { kind: "confirm", title: "Allow?", message: "It runs a command." }]]);
	expect(server.requests.at(-1)?.lastToolResults.map(({ text }) => text)).toEqual(['["rpc",true,true]']);
});

test("a guard there knows that no one here can answer, and decides by itself", async () => {
	await using world = await guardedWorld(ASKING);
	const { options, spec, server } = world;
	await remoteRunner(options).start(spec, () => undefined).settled;
	expect(server.requests.at(-1)?.lastToolResults.map(({ text }) => text)).toEqual(['["rpc",false,false]']);
});
