/** The user's extensions that guard children in this process, with real pi sessions. */
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DefaultResourceLoader, SettingsManager } from "@earendil-works/pi-coding-agent";
import { callTool, onTurn, otherwise, say, when } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { createGuards, type GuardRule } from "../../src/session/index.ts";
import { type Change, diary, put, start, userWorld } from "./user-fixture.ts";

const READS = [when(onTurn(1), callTool("read", { path: "secret.env" })), otherwise(say("Done."))];

/** A user with one more extension, which the session that launches has loaded. */
async function guardedWorld(code: string, { rule = "on", name = "gate.ts", script = READS }: Partial<World> = {}) {
	const world = await userWorld(script);
	const path = await put(join(world.host.agentDir, "extensions", name), code);
	await put(join(world.spec.cwd, "secret.env"), "heliotrope");
	const entries: { type: "custom"; customType: string; data: unknown }[] = [];
	const guards = (argv: string[] = []) =>
		createGuards({
			...world.host,
			session: () => ({ cwd: world.spec.cwd, sessionManager: { getBranch: () => entries } as never }),
			rule: () => rule,
			argv,
			worksIn: world.spec.cwd,
		});
	const held = guards();
	const run = ({ spec, host }: Change = {}) =>
		start(world, { spec: { tools: ["read"], ...spec }, host: { guards: held, ...host } });
	const results = () => world.model.requests.flatMap(({ lastToolResults }) => lastToolResults.map(({ text }) => text));
	return { ...world, path, entries, guards, run, results };
}

interface World {
	rule: GuardRule;
	name: string;
	script: Parameters<typeof userWorld>[0];
}

const BLOCKS = `export default (pi) => { pi.on("tool_call", () => ({ block: true, reason: "No." })); };`;

/** Writes down how often its module and its factory were run, and blocks. */
const COUNTS = (log: string) => `import { appendFileSync } from "node:fs";
appendFileSync(${JSON.stringify(log)}, "gate evaluated\\n");
export default (pi) => { appendFileSync(${JSON.stringify(log)}, "gate ran\\n"); pi.on("tool_call", () => ({ block: true, reason: "No." })); };`;

describe("a guard in a child", () => {
	test("holds whatever the spec says, and other extensions stay out", async () => {
		await using world = await guardedWorld(BLOCKS);
		for (const spec of [
			{},
			{ extensions: false },
			{ extensions: true, excludeExtensions: ["gate", "bank", "linter"] },
		]) {
			expect(await world.run({ spec }).settled).toEqual({ status: "completed", text: "Done." });
		}
		expect(world.results()).toEqual(["No.", "No.", "No."]);
		expect(await world.logged()).toEqual(["bank loaded", "linter loaded"]); // once, to see what they do
	});

	test("is recognised once for each version of its file, and one module serves agents after each other", async () => {
		await using world = await guardedWorld("");
		await put(world.path, COUNTS(world.log));
		const seen = async () => (await world.logged()).filter((line) => line.startsWith("gate"));
		for (let count = 0; count < 3; count++) await world.run().settled;
		expect(await seen()).toEqual(["gate evaluated", ...Array(4).fill("gate ran")]);
		await put(world.path, `${COUNTS(world.log)} // changed`);
		await world.run().settled;
		expect(await seen()).toEqual([...Array(2).fill("gate evaluated"), ...Array(6).fill("gate ran")]);
	});

	test("offers its other tools only if the preset asks for the extension", async () => {
		const code = `export default (pi) => {
			pi.on("tool_call", () => undefined);
			const tool = (name) => ({ name, label: name, description: name, parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: "from " + name }], details: {} }) });
			pi.registerTool(tool("extra"));
			pi.on("session_start", () => pi.registerTool(tool("late")));
			pi.registerTool(tool("read"));
		};`;
		await using world = await guardedWorld(code);
		const offered = () => world.model.requests.at(-1)?.tools.map(({ name }) => name);
		await world.run({ spec: { tools: ["read", "extra", "late"] } }).settled;
		expect(offered()).toEqual(["read"]);
		expect(world.results()).toEqual(["from read"]); // it replaces the built-in one
		await world.run({ spec: { tools: ["read", "extra", "late"], extensions: ["gate"] } }).settled;
		expect(offered()?.sort()).toEqual(["extra", "late", "read"]);
	});

	test("sees the start and the end of each session, one for the other", async () => {
		await using world = await guardedWorld("");
		await put(
			world.path,
			diary(world.log, "gate", "").replace('note("loaded");', 'note("loaded"); pi.on("tool_call", () => undefined);'),
		);
		await world.run().settled;
		const run = world.run();
		run.abort({ by: "user" });
		await run.settled;
		const seen = (await world.logged()).filter((line) => line.startsWith("gate"));
		expect(seen.filter((line) => line === "gate started")).toHaveLength(
			seen.filter((line) => line === "gate shut down").length,
		);
	});

	test("of another sub-agent extension is none", async () => {
		const code = `export default (pi) => {
			pi.on("tool_call", () => ({ block: true, reason: "No." }));
			pi.registerTool({ name: "subagent", label: "x", description: "x", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [], details: {} }) });
		};`;
		await using world = await guardedWorld(code);
		await world.run().settled;
		expect(world.results()).toEqual(["heliotrope"]);
		await using named = await guardedWorld(BLOCKS, { name: "pi-subagents/index.ts" });
		await named.run().settled;
		expect(named.results()).toEqual(["heliotrope"]);
	});

	test("that is gone refuses the launch, and says how to go on", async () => {
		await using world = await guardedWorld(BLOCKS);
		await world.run().settled;
		await rm(world.path);
		expect(await world.run().settled).toMatchObject({
			status: "failed",
			error: expect.stringMatching(/gate\.ts could not be loaded for an agent .*"guards": \{ "exempt"/),
		});
	});
});

test("a guard that replaces a built-in tool refuses a child elsewhere that has the tool", async () => {
	await using world = await guardedWorld(`export default (pi) => {
		pi.registerTool({ name: "bash", label: "x", description: "x", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: process.cwd() }], details: {} }) });
	};`);
	const elsewhere = join(world.dir, "elsewhere");
	await mkdir(elsewhere);
	expect(await world.run({ spec: { cwd: elsewhere, tools: ["read", "bash"] } }).settled).toMatchObject({
		status: "failed",
		error: expect.stringMatching(/gate guards agents and replaces bash.*works in .*elsewhere.*runner: process/),
	});
	expect(await world.run({ spec: { cwd: elsewhere } }).settled).toMatchObject({ status: "completed" });
	expect(await world.run({ spec: { tools: ["read", "bash"] } }).settled).toMatchObject({ status: "completed" });
});

describe("a guard that fails", () => {
	const failing = (event: string) =>
		`export default (pi) => { pi.on("tool_call", () => undefined); pi.on("${event}", () => { throw new Error("broken gate"); }); };`;

	test("in tool_call refuses the call", async () => {
		await using world = await guardedWorld(failing("tool_call"));
		await world.run().settled;
		expect(world.results()).toEqual([expect.stringContaining("broken gate")]);
	});

	test("in tool_result withholds the result", async () => {
		await using world = await guardedWorld(failing("tool_result"));
		await world.run().settled;
		expect(world.results()).toEqual(["The result was withheld, because gate failed to check it: broken gate"]);
	});

	test.each(["session_start", "input", "before_agent_start"])(
		"in %s fails the run before its first request",
		async (event) => {
			await using world = await guardedWorld(failing(event));
			expect(await world.run().settled).toMatchObject({
				status: "failed",
				error: `The agent did not start, because gate failed in ${event}: broken gate`,
			});
			expect(world.model.requests).toEqual([]);
		},
	);

	test.each(["tool_call", "tool_result", "before_agent_start", "session_start"])(
		"by never answering in %s does not keep a stop from ending",
		async (event) => {
			await using world = await guardedWorld(
				`export default (pi) => { pi.on("tool_call", () => undefined); pi.on("${event}", () => { globalThis.asked?.(); return new Promise(() => {}); }); };`,
			);
			const asked = Promise.withResolvers<void>();
			Reflect.set(globalThis, "asked", asked.resolve);
			const reports: string[] = [];
			const run = world.run({ host: { report: (message) => void reports.push(message) } });
			await asked.promise;
			Reflect.deleteProperty(globalThis, "asked");
			run.abort({ by: "user" });
			expect(await run.settled).toMatchObject({ status: "aborted" });
			expect(reports).toEqual([]); // an agent that was not ended is abandoned after five seconds, and reported
		},
	);
});

describe("what a child shares with its parent", () => {
	/** The parent loads the extension as pi does. */
	async function loadInParent(world: Awaited<ReturnType<typeof guardedWorld>>) {
		const { cwd } = world.spec;
		const { agentDir } = world.host;
		const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted: false });
		const loader = new DefaultResourceLoader({ cwd, agentDir, settingsManager });
		await loader.reload();
		return loader.getExtensions();
	}

	const SWITCH = `
		export default (pi) => {
			box.uses++;
			pi.on("tool_call", () => box.isOn ? { block: true, reason: "On." } : undefined);
			pi.on("session_start", () => { box.isOn = true; });
			pi.on("session_shutdown", () => { box.isOn = false; });
			pi.events.on("ask", (answer) => answer({ ...box }));
		};`;

	test("stays as it is in the parent: modules of its own, and compiled packages that Node keeps", async () => {
		for (const [name, code] of [
			["gate.ts", `const box = { isOn: true, uses: 0 };${SWITCH}`],
			["gate/index.ts", `import { box } from "box";${SWITCH}`],
			["gate/index.js", `import { box } from "box";${SWITCH}`],
		] as const) {
			await using world = await guardedWorld(code, { name });
			const dir = join(world.host.agentDir, "extensions", "gate");
			if (name !== "gate.ts") {
				await put(join(dir, "package.json"), '{ "name": "gate", "type": "module" }');
				await put(
					join(dir, "node_modules", "box", "package.json"),
					'{ "name": "box", "type": "module", "main": "index.js" }',
				);
				await put(join(dir, "node_modules", "box", "index.js"), 'export { box } from "./state.js";');
				await put(join(dir, "node_modules", "box", "state.js"), "export const box = { isOn: true, uses: 0 };");
			}
			const parent = await loadInParent(world);
			expect(parent.errors).toEqual([]);
			await world.run().settled;
			expect(world.results()).toEqual(["On."]);
			const handler = parent.extensions.find(({ path }) => path.includes("gate"))?.handlers.get("tool_call")?.[0];
			expect([name, handler?.({} as never, {} as never)]).toEqual([name, { block: true, reason: "On." }]);
		}
	});

	test("leaves siblings alone: one that ends does not switch off another's guard", async () => {
		const code = `let isOn = false;
			export default (pi) => {
				pi.on("tool_call", () => isOn ? { block: true, reason: "On." } : undefined);
				pi.on("session_start", () => { isOn = true; });
				pi.on("session_shutdown", () => { isOn = false; });
			};`;
		await using world = await guardedWorld(code, {
			script: [when(({ lastUserText }) => lastUserText.includes("quick"), say("Done.")), ...READS],
		});
		await Promise.all([
			world.run({ spec: { task: "quick" } }).settled,
			world.run().settled,
			world.run({ spec: { task: "quick" } }).settled,
		]);
		expect(world.results()).toEqual(["On."]);
	});

	test("keeps pi's cache of extensions, also for a child elsewhere", async () => {
		await using world = await guardedWorld("");
		await put(world.path, COUNTS(world.log));
		await loadInParent(world);
		const elsewhere = join(world.dir, "elsewhere");
		await mkdir(elsewhere);
		await world.run({ spec: { cwd: elsewhere } }).settled;
		await world.run({ spec: { cwd: elsewhere, extensions: ["linter"] } }).settled;
		const before = (await readFile(world.log, "utf8")).match(/gate evaluated/g)?.length;
		await loadInParent(world);
		expect((await readFile(world.log, "utf8")).match(/gate evaluated/g)).toHaveLength(before ?? 0);
	});

	test("keeps the parent's providers", async () => {
		const code = `export default (pi) => {
			pi.on("tool_call", () => undefined);
			pi.registerProvider("mine", { baseUrl: "http://127.0.0.1:1", apiKey: "x", api: "openai-completions", models: [] });
			pi.on("session_shutdown", () => pi.unregisterProvider("faux"));
		};`;
		await using world = await guardedWorld(code);
		const runtime = await world.host.modelRuntime();
		const before = runtime.getModels().length;
		await world.run({ spec: { extensions: true } }).settled;
		expect(runtime.getModels()).toHaveLength(before);
		expect(await world.run().settled).toMatchObject({ status: "completed" });
	});

	test("starts programs where the child works", async () => {
		await using world = await guardedWorld(
			`export default (pi) => { pi.on("tool_call", async () => ({ block: true, reason: (await pi.exec("pwd", [])).stdout.trim() })); };`,
		);
		const elsewhere = join(world.dir, "elsewhere");
		await mkdir(elsewhere);
		await world.run({ spec: { cwd: elsewhere } }).settled;
		expect(world.results()).toEqual([elsewhere]);
	});
});

describe("state of the session", () => {
	const MODE = `export default (pi) => {
		let mode = "write";
		pi.registerFlag("plan", { type: "boolean" });
		pi.registerFlag("zone", { type: "string" });
		pi.on("session_start", (_event, ctx) => {
			if (pi.getFlag("plan")) mode = "plan in " + pi.getFlag("zone");
			const last = ctx.sessionManager.getEntries().filter((entry) => entry.type === "custom" && entry.customType === "mode").at(-1);
			if (last) mode = last.data.mode;
		});
		pi.on("tool_call", () => ({ block: true, reason: mode }));
	};`;

	test("that a guard keeps in entries holds in a child, and later changes in its next run", async () => {
		await using world = await guardedWorld(MODE);
		world.entries.push({ type: "custom", customType: "mode", data: { mode: "plan" } });
		const sessionDir = () => join(world.dir, "sessions");
		await world.run({ host: { sessionDir } }).settled;
		world.entries.push({ type: "custom", customType: "mode", data: { mode: "strict" } });
		await world.run({ host: { sessionDir }, spec: { run: 2 } }).settled;
		await world.run({ host: { sessionDir }, spec: { run: 3 } }).settled;
		expect(world.results()).toEqual(["plan", "strict", "strict"]);
	});

	test("that a guard keeps in options of pi holds in a child", async () => {
		await using world = await guardedWorld(MODE);
		await world.run({ host: { guards: world.guards(["--plan", "--zone", "north", "--unknown"]) } }).settled;
		expect(world.results()).toEqual(["plan in north"]);
	});
});
