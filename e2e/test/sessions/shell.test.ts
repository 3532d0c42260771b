/** Agents of a real pi as `pi-subagents` shows and stops them from another process. */
import { join } from "node:path";
import { startRpc, until } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { root, run } from "../../support/packages/packed.ts";
import { detached, fileOf, inside, isScout, oneScout, target, theRun } from "../../support/visits.ts";

interface Listed {
	agentId: string;
	runner: string;
	sessionId: string;
	holder?: { pid: number };
	state: { group: string; status: string };
}

const bin = join(root, "packages/cli/dist/bin.js");

test.concurrent("a detached agent is listed and stopped from the shell", async () => {
	await using it = await oneScout(detached);
	const pi = startRpc(target(it));
	await pi.prompt("Please delegate.");
	await it.server.nextRequest(isScout);
	const shell = (...args: string[]) => run(process.execPath, [bin, ...args], { cwd: "/", env: it.env.variables });
	const [agent] = JSON.parse(await shell("list", "--json")).runs as Listed[];
	expect(agent).toMatchObject({ runner: "process", state: { group: "working", status: "running" } });
	expect(await shell("stop", agent?.agentId ?? "")).toContain("Stopped by you");
	const [ended] = JSON.parse(await shell("list", "--json")).runs as Listed[];
	expect(ended?.state).toEqual({ group: "done", status: "aborted" });
	expect(await theRun(await fileOf(pi))).toBeDefined();
});

test.concurrent("an agent inside pi is listed with the process and the session that hold it", async () => {
	await using it = await oneScout(inside);
	const pi = startRpc(target(it));
	void pi.prompt("Please delegate.");
	await it.server.nextRequest(isScout);
	const shell = (...args: string[]) => run(process.execPath, [bin, ...args], { cwd: "/", env: it.env.variables });
	const agent = await until("it is listed", async () => {
		const { runs } = JSON.parse(await shell("list", "--json")) as { runs: Listed[] };
		return runs[0];
	});
	expect(agent).toMatchObject({ runner: "session", holder: { pid: pi.pid }, state: { status: "running" } });
	await expect(shell("stop", agent.agentId)).rejects.toThrow(
		new RegExp(`inside pi process ${pi.pid} on .+, session ${agent.sessionId}: answer or stop it there`),
	);
	it.gate.open();
});
