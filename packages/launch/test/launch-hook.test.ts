/** A hook of the user's own settings: it may refuse a launch or take something back, and never gives an agent more. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { allTools, type RunSpec } from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import { describe, expect, test } from "vitest";
import { narrowed } from "../src/launch-hook.ts";
import { launching } from "./fixture.ts";

/** A real program that keeps what it read beside itself, prints this, and ends with that code. */
async function withHook(prints: string, code = 0, fields = "") {
	const it = await launching({ fields: `tools: read, grep\nmax_turns: 20\n${fields}`, models: ["one", "two"] });
	const script = join(it.agentDir, "hook.mjs");
	const seen = join(it.agentDir, "seen.json");
	await writeFile(
		script,
		`import { readFileSync, writeFileSync } from "node:fs";
		writeFileSync(${JSON.stringify(seen)}, readFileSync(0));
		process.stdout.write(${JSON.stringify(prints)});
		process.exitCode = ${code};`,
	);
	const hooks = { before_launch: [process.execPath, script] };
	await writeFile(join(it.agentDir, "subagents.json"), JSON.stringify({ hooks }));
	return { ...it, seen };
}

test("a hook that prints nothing, or an empty object, changes nothing, and has read the spec", async () => {
	for (const prints of ["", "{}"]) {
		const { resolve, seen } = await withHook(prints);
		const spec = await resolve({ task: "Count." });
		expect(spec).toMatchObject({ tools: ["read", "grep"], limits: { maxTurns: 20 }, warnings: [] });
		expect(JSON.parse(await readFile(seen, "utf8"))).toMatchObject({
			task: "Count.",
			tools: ["read", "grep", "ask_main_session"],
		});
	}
});

test("it may take tools and limits back, and the agent's caller reads that", async () => {
	const { resolve } = await withHook(JSON.stringify({ tools: ["read"], limits: { maxTurns: 5, budgetCost: 1 } }));
	expect(await resolve()).toMatchObject({
		tools: ["read"],
		limits: { maxTurns: 5, budgetCost: 1 },
		warnings: ["Your `hooks.before_launch` changed tools, maxTurns, budgetCost."],
	});
});

describe("the tools that it sees and names are all that the agent would have", () => {
	const SUBAGENTS = "subagents: scout, Explore";
	const LAUNCHING = ["Agent", "get_subagent_result", "steer_subagent", "stop_subagent", "reply_subagent"];
	const seenBy = async ({ resolve, seen }: Awaited<ReturnType<typeof withHook>>) => {
		const spec = await resolve();
		return { spec, saw: JSON.parse(await readFile(seen, "utf8")).tools };
	};

	test("those with which it asks and launches agents among them", async () => {
		const { saw, spec } = await seenBy(await withHook("", 0, SUBAGENTS));
		expect(saw).toEqual(["read", "grep", "ask_main_session", ...LAUNCHING]);
		expect(spec).toMatchObject({ tools: ["read", "grep"], subagents: ["scout", "Explore"] });
		expect(spec).not.toHaveProperty("withheld");
		expect((await seenBy(await withHook("", 0, `${SUBAGENTS}\nrunner: process`))).saw).toEqual([
			"read",
			"grep",
			"ask_main_session",
		]);
	});

	test("`tools` is exactly what it keeps", async () => {
		const { spec } = await seenBy(await withHook('{"tools":["read"]}', 0, SUBAGENTS));
		expect(spec).toMatchObject({ tools: ["read"], withheld: ["ask_main_session", ...LAUNCHING] });
		expect(spec).not.toHaveProperty("subagents");
		expect(allTools(spec)).toEqual(["read"]);
		const asking = await seenBy(await withHook('{"tools":["ask_main_session","Agent"]}', 0, SUBAGENTS));
		expect(allTools(asking.spec)).toEqual(["ask_main_session", "Agent"]);
		expect(asking.spec.subagents).toEqual(["scout", "Explore"]);
		expect(allTools((await seenBy(await withHook('{"tools":[]}', 0, SUBAGENTS))).spec)).toEqual([]);
	});

	test("what is left out of an MCP server's tools is gone, and so is a server without any", () => {
		const spec: RunSpec = {
			...sampleSpec,
			tools: ["read", "mcp__bank__*", "mcp__shop__buy"],
			mcp: { servers: ["bank", "shop"] },
		};
		const named = { tools: ["mcp__bank__balance", "ask_main_session"] };
		expect(narrowed(spec, named)).toMatchObject({ tools: ["mcp__bank__balance"], mcp: { servers: ["bank"] } });
		expect(narrowed(spec, { tools: ["read"] })).not.toHaveProperty("mcp");
		expect(() => narrowed(spec, { tools: ["mcp__shop__sell"] })).toThrow("more tools: mcp__shop__sell");
	});
});

test.each([
	['{"tools":["read","bash"]}', 0, "would give the agent more tools: bash"],
	['{"limits":{"maxTurns":21}}', 0, "would raise `limits.maxTurns` from 20 to 21"],
	['{"limits":{"maxTurns":0}}', 0, "is not understood: /limits/maxTurns"],
	['{"limits":{"maxTurns":-1}}', 0, "is not understood: /limits/maxTurns"],
	['{"limits":{"maxTurns":"5"}}', 0, "is not understood: /limits/maxTurns"],
	['{"limits":{"timeoutMs":1e999}}', 0, "is not understood: /limits/timeoutMs"],
	['{"limits":{"timeoutMs":NaN}}', 0, "not JSON"],
	['{"limits":{"maxTurns":null}}', 0, "is not understood: /limits/maxTurns"],
	['{"limits":{"max_turns":500}}', 0, "is not understood: /limits"],
	['{"limits":{"__proto__":{"maxTurns":500}}}', 0, "is not understood: /limits"],
	['{"tool":["read"]}', 0, "is not understood"],
	["[]", 0, "is not understood"],
	["Go on.", 0, "not JSON"],
	['{"model":"nobody/knows"}', 0, "nobody/knows"],
	['{"refuse":"Not on a Friday."}', 0, "refused by `hooks.before_launch` of your settings: Not on a Friday."],
	["Not today.", 3, "refused by `hooks.before_launch` of your settings: Not today."],
	["", 3, "exit code 3"],
])("what it prints (%s, exit code %i) launches nothing", async (prints, code, why) => {
	const { resolve, made } = await withHook(prints, code);
	await expect(resolve()).rejects.toThrow(why);
	expect(await made()).toEqual([]);
});

test("the model that it chooses is the only one", async () => {
	const { resolve } = await withHook('{"model":"fake/two"}', 0, "model: fake/one\nfallback_models: fake/one");
	const spec = await resolve();
	expect(spec).toMatchObject({
		model: "fake/two",
		warnings: ["Your `hooks.before_launch` changed the model."],
	});
	expect(spec.fallbackModels).toBeUndefined();
});

test("a preset that locks its model is not launched with it against the hook", async () => {
	const { resolve, made } = await withHook('{"model":"fake/two"}', 0, "model: fake/one\nlocked: model");
	await expect(resolve()).rejects.toThrow('chose the model fake/two, but preset "clerk" decides its model itself');
	expect(await made()).toEqual([]);
});

test("a hook that is not there launches nothing", async () => {
	const { resolve, agentDir } = await launching({});
	const hooks = { before_launch: [join(agentDir, "nowhere")] };
	await writeFile(join(agentDir, "subagents.json"), JSON.stringify({ hooks }));
	await expect(resolve()).rejects.toThrow(/`hooks\.before_launch` of your settings could not be started/);
});

test("a trial asks no hook", async () => {
	const { resolve } = await withHook('{"refuse":"Never."}');
	expect(await resolve({ isTrial: true })).toMatchObject({ tools: ["read", "grep"] });
});

test("a project's settings cannot set one, trusted or not", async () => {
	const { resolve, cwd } = await launching({});
	const hooks = { before_launch: ["false"] };
	await writeFile(join(cwd, ".pi", "subagents.json"), JSON.stringify({ hooks }));
	expect(await resolve()).toMatchObject({ task: "File it." });
});

test("what it prints reaches no terminal with control characters", async () => {
	for (const answer of ['{"\\u001b[31m":1}', '{"refuse":"\\u001b[31mno"}', '{"tools":["\\u009b31m"]}'])
		await expect((await withHook(answer)).resolve()).rejects.toThrow(/^[^\u0000-\u001f\u007f-\u009f]+$/);
});

test.each([
	["runner: process", true],
	["runner: session", undefined],
])(
	"a call that may outlive its session with `%s` is decided at once, so the hook runs once",
	async (field, outlives) => {
		const { resolve, seen } = await withHook("{}", 0, field);
		const script = join(seen, "../hook.mjs");
		const counted = `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(`${seen}.count`)}, "1");\n`;
		await writeFile(script, counted + (await readFile(script, "utf8")));
		const spec = await resolve({ task: "Count.", outlives: "if_process" });
		expect([spec.runner, spec.outlives || undefined]).toEqual([field.slice("runner: ".length), outlives]);
		expect(await readFile(`${seen}.count`, "utf8")).toBe("1");
	},
);
