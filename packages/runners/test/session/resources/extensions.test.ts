import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, onTurn, otherwise, say, when } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { handClock } from "../../../../core/src/testing/index.ts";
import { diary, put, runToEnd, start, userWorld } from "../user-fixture.ts";

const life = (name: string) => [`${name} loaded`, `${name} shut down`, `${name} started`];

describe("extensions in a child", () => {
	test("are none unless the preset asks for them", async () => {
		await using world = await userWorld();
		await runToEnd(world);
		await runToEnd(world, { spec: { extensions: false } });
		await runToEnd(world, { spec: { extensions: [] } });
		expect(await world.logged()).toEqual([]);
	});

	test("are all of the user's, but never our own", async () => {
		await using world = await userWorld();
		expect(await runToEnd(world, { spec: { extensions: true } })).toEqual({ status: "completed", text: "ok" });
		expect(await world.logged()).toEqual([...life("bank"), ...life("linter")]);
	});

	test("are those named, by package or by file, less those excluded", async () => {
		await using world = await userWorld();
		await runToEnd(world, { spec: { extensions: ["@acme/pi-bank"] } });
		expect(await world.logged()).toEqual(life("bank"));
		await writeFile(world.log, "");
		await runToEnd(world, { spec: { extensions: ["linter"] } });
		expect(await world.logged()).toEqual(life("linter"));
		await writeFile(world.log, "");
		await runToEnd(world, { spec: { extensions: true, excludeExtensions: ["bank"] } });
		expect(await world.logged()).toEqual(life("linter"));
	});

	test("are not those that the host knows as ours", async () => {
		await using world = await userWorld();
		const isOwnExtension = (path: string) => path.endsWith("linter.ts");
		await runToEnd(world, { spec: { extensions: true }, host: { isOwnExtension } });
		expect(await world.logged()).toEqual(life("bank"));
	});

	test("are not our own behind a link, nor under the name of a broken package", async () => {
		await using world = await userWorld();
		const { agentDir } = world.host;
		const entry = await put(join(world.dir, "elsewhere", "dist", "main.js"), diary(world.log, "linked"));
		await put(join(world.dir, "elsewhere", "package.json"), '{ "name": "@pi-subagents/extension", "type": "module" }');
		await symlink(entry, join(agentDir, "extensions", "mine.js"));
		await put(join(agentDir, "extensions", "odd", "index.ts"), diary(world.log, "odd"));
		await put(join(agentDir, "extensions", "odd", "package.json"), "{ broken");
		await put(join(agentDir, "package.json"), '{ "name": "not-theirs" }');
		const spec = { extensions: true, excludeExtensions: ["linter", "bank", "not-theirs"] };
		expect(await runToEnd(world, { spec })).toMatchObject({ status: "completed" });
		expect(await world.logged()).toEqual(life("odd"));
	});

	test("that are missing fail the run before its first turn, in words that help", async () => {
		await using world = await userWorld();
		expect(await runToEnd(world, { spec: { extensions: ["linter", "ghost", "agents"] } })).toEqual({
			status: "failed",
			error: 'The agent\'s preset asks for the extension "ghost", "agents", but there is @acme/pi-bank, bank, linter.',
		});
		expect(world.model.requests).toEqual([]);
		expect(await world.logged()).toEqual([]);
	});

	test("that are named and broken fail the run; among all, a broken one is only reported", async () => {
		await using world = await userWorld();
		await put(
			join(world.host.agentDir, "extensions", "broken.ts"),
			"export default function () { throw new Error('boom'); }",
		);
		const reports: string[] = [];
		const host = { report: (message: string) => void reports.push(message) };
		expect(await runToEnd(world, { spec: { extensions: ["broken"] }, host })).toMatchObject({
			status: "failed",
			error: expect.stringContaining("boom"),
		});
		expect(await runToEnd(world, { spec: { extensions: true }, host })).toMatchObject({ status: "completed" });
		expect(reports).toEqual([expect.stringContaining("boom")]);
	});

	test("give it tools, if its list has them", async () => {
		await using world = await userWorld([when(onTurn(1), callTool("bank_tool")), otherwise(say("Used."))]);
		const spec = { extensions: ["bank"], tools: ["read", "bank_tool"] };
		expect(await runToEnd(world, { spec })).toEqual({ status: "completed", text: "Used." });
		expect(world.model.requests[1]?.lastToolResults.map(({ text }) => text)).toEqual(["used"]);
		await runToEnd(world, { spec: { ...spec, tools: ["read"] } });
		expect(world.model.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(["read"]);
	});

	test("see nothing of an untrusted project", async () => {
		await using world = await userWorld();
		await put(join(world.spec.cwd, ".pi", "extensions", "evil.ts"), diary(world.log, "evil"));
		await runToEnd(world, { spec: { extensions: true } });
		expect(await world.logged()).not.toContain("evil loaded");
		await runToEnd(world, { spec: { extensions: true }, host: { isProjectTrusted: () => true } });
		expect(await world.logged()).toContain("evil loaded");
	});

	test("cannot do anything any more when it is over", async () => {
		await using world = await userWorld();
		const key = Symbol.for("pi-subagents test: kept by an extension");
		const keeper = `export default (pi) => { globalThis[Symbol.for(${JSON.stringify(key.description)})] = pi; };`;
		await put(join(world.host.agentDir, "extensions", "keeper.ts"), keeper);
		await runToEnd(world, { spec: { extensions: ["keeper"] } });
		const kept = Reflect.get(globalThis, key) as { getActiveTools(): string[] };
		Reflect.deleteProperty(globalThis, key);
		expect(() => kept.getActiveTools()).toThrow("stale");
	});

	test("that do not end in time are left behind, and that is reported", async () => {
		await using world = await userWorld();
		await put(
			join(world.host.agentDir, "extensions", "slow.ts"),
			diary(world.log, "slow", "return new Promise(() => {});"),
		);
		const clock = handClock();
		const reports: string[] = [];
		const run = start(world, {
			spec: { extensions: ["slow"] },
			host: { clock, report: (message) => void reports.push(message) },
		});
		while (clock.waiting() === 0) await new Promise(setImmediate);
		clock.advance(3_000);
		expect(await run.settled).toMatchObject({ status: "completed" });
		expect(reports).toEqual(["ending the extensions of an agent: not done after 3 s"]);
	});

	test("that never start do not keep a stop from settling", async () => {
		await using world = await userWorld();
		const stuck = `${diary(world.log, "stuck").replace('() => note("started")', '() => { note("started"); return new Promise(() => {}); }')}`;
		await put(join(world.host.agentDir, "extensions", "stuck.ts"), stuck);
		const run = start(world, { spec: { extensions: ["stuck"] } });
		while (!(await world.logged()).includes("stuck started")) await new Promise(setImmediate);
		run.abort({ by: "user" });
		expect(await run.settled).toEqual({ status: "aborted", by: "user" });
		expect(await world.logged()).toContain("stuck shut down");
		expect(world.model.requests).toEqual([]);
	});
});
