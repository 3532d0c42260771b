/** An agent can write beside the journal of its workflow. Whatever it puts in its place, pi opens, and touches nothing else. */
import { execFile } from "node:child_process";
import { readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { callTool, gateCases, gatePis, hang, say, startRpc } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentSays, scene, scoutSays } from "../../support/scene.ts";
import { command, offering, script } from "../../support/workflows.ts";

const body = 'return agent("First", { agentType: "repo-scout" })';

const STRANGE: [string, (path: string, other: string) => unknown][] = [
	["a pipe", (path) => promisify(execFile)("mkfifo", [path])],
	["a link to a device without end", (path) => symlink("/dev/zero", path)],
	["a link to another file", (path, other) => symlink(other, path)],
	[
		"a file of a terabyte",
		async (path) => {
			await writeFile(path, "");
			await truncate(path, 2 ** 40);
		},
	],
];

describe.each(await gatePis())("pi $version", (pi) => {
	test.each(gateCases(STRANGE, 0, 2))("%s in place of a journal", async (_what, put) => {
		await using it = await scene(
			[parentSays(callTool("workflow", { script: script(body, "one") }), say("Started.")), scoutSays(hang())],
			{ agentFiles: offering({ workflows: { autoResume: true } }) },
		);
		const runsDir = join(it.env.cwd, ".pi", "subagents", "runs");
		const other = join(it.env.root, "other-file");
		await writeFile(other, "belongs to another program\n");
		const rpc = startRpc({ env: it.env, pi });
		await rpc.prompt("Please delegate.");
		await it.server.nextRequest(({ lastUserText }) => lastUserText === "First");
		process.kill(-(rpc.pid ?? 0), "SIGKILL");
		await rpc.close();
		const name = (await readdir(runsDir)).find((each) => each.endsWith(".workflow.jsonl")) ?? "";
		await rm(join(runsDir, name));
		await put(join(runsDir, name), other);

		await using again = startRpc({ env: it.env, pi, args: ["--continue"] });
		const said = await again.waitFor((event) => JSON.stringify(event).includes("cannot be read"));
		expect(JSON.stringify(said)).toMatch(/The journal .* cannot be read: it is /);
		expect(await command(again, "/workflow list")).toMatch(/cannot\s+be read/);
		expect(await command(again, "/workflow resume")).toMatch(/cannot\s+be read/);
		expect(await readFile(other, "utf8")).toBe("belongs to another program\n");
	});
});
