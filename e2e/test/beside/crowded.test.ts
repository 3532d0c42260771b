/** Extensions of other people beside ours, in real pi: none of them ends pi, and pi is asked what they do. */
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
	availablePis,
	callTool,
	callTools,
	converse,
	createTempDir,
	lastUserSays,
	offersTool,
	type PiBinary,
	runPrint,
	say,
} from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { ONE_LINE_GUARD, REFUSAL, SECRET, secretReadBy } from "../../support/env-guard.ts";
import { extensionDir, scene, unfenced } from "../../support/scene.ts";

/** Bears one evaluation in a process; a second one throws where nobody waits for it. */
const ONCE = `const hasRun = globalThis.onceHasRun;
globalThis.onceHasRun = true;
if (hasRun) setTimeout(() => { throw new Error("I am here already."); }, 0);
`;

/** Runs sessions of its own, with all of the user's extensions, as other sub-agent extensions do. */
const TOOL = (name: string) =>
	`pi.registerTool({ name: "${name}", label: "x", description: "x", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: "from ${name}" }], details: {} }) });`;

/** A file outside of all directories that pi looks in. */
async function elsewhere(name: string, code: string): Promise<string> {
	const dir = await createTempDir("beside-");
	onTestFinished(() => dir.remove());
	await writeFile(join(dir.path, name), code);
	return join(dir.path, name);
}

const agent = (name: string, fields: string) =>
	`---\nname: ${name}\ndescription: d\nmodel: fake/fake-1\n${fields}---\nYou are ${name}.\n`;

/** Launches an agent of each preset; the tools that each was offered, or what its launch said. */
async function offered(pi: PiBinary, presets: Record<string, string>, options: Parameters<typeof scene>[1]) {
	const names = Object.keys(presets);
	const launch = names.map((name) => callTool("subagent", { preset: name, task: "Work." }));
	await using it = await scene(
		[
			converse(lastUserSays("Work."), say("Done.")),
			converse(offersTool("subagent"), callTools(...launch), say("I see.")),
		],
		{
			...options,
			agentFiles: {
				...options?.agentFiles,
				...Object.fromEntries(names.map((name) => [`subagents/${name}.md`, agent(name, presets[name] ?? "")])),
			},
		},
	);
	const { code } = await runPrint({ env: it.env, pi }, "Please launch them.");
	expect(code).toBe(0);
	const said = it.server.requests.at(-1)?.lastToolResults.map(({ text }) => unfenced(text)) ?? [];
	return names.map((name, index) => {
		const request = it.server.requests.find(({ systemPrompt }) => systemPrompt.includes(`You are ${name}.`));
		const tools = request?.tools.map((tool) => tool.name).filter((tool) => tool !== "ask_main_session");
		return tools?.sort().join(" ") ?? said[index];
	});
}

const DEFAULTS = "bash edit read write";
const NESTS = `import { createAgentSession, SessionManager } from "@earendil-works/pi-coding-agent";
export default (pi) => {
	pi.registerTool({
		name: "nest", label: "nest", description: "Nests.", parameters: { type: "object", properties: {} },
		async execute(_id, _params, _signal, _update, ctx) {
			const { session } = await createAgentSession({
				cwd: ctx.cwd,
				model: ctx.model,
				modelRuntime: ctx.modelRegistry.runtime,
				sessionManager: SessionManager.inMemory(ctx.cwd),
			});
			await session.bindExtensions({});
			session.subscribe((event) => { if (event.type === "agent_settled") process.nextTick(() => session.dispose()); });
			await session.prompt("Say hello.");
			session.dispose();
			return { content: [{ type: "text", text: "nested" }], details: {} };
		},
	});
};
`;

describe.each(await availablePis())("pi $version", (pi) => {
	test("an extension that is no guard is not run again to find that out", async () => {
		const agentFiles = { "extensions/once.ts": `${ONCE}export default () => undefined;\n` };
		expect(await secretReadBy({ pi, agentFiles })).toContain(SECRET);
	});

	test("a guard that cannot run twice refuses launches, and pi goes on", async () => {
		const agentFiles = { "extensions/once.ts": `${ONCE}${ONE_LINE_GUARD}` };
		const text = await secretReadBy({ pi, agentFiles });
		expect(text).toMatch(
			/once guards agents and could not be loaded .*I am here already.*name "once" in `guards: \{ exempt \}`/,
		);
		expect(text).not.toContain(SECRET);
		expect(await secretReadBy({ pi, agentFiles, subagents: { guards: { exempt: ["once"] } } })).toContain(SECRET);
	});

	test("handlers that an extension registers when its session starts count", async () => {
		const code = ONE_LINE_GUARD.replace("pi.on(", 'pi.on("session_start", () => pi.on(').replace("); };", ")); };");
		const text = await secretReadBy({ pi, agentFiles: { "extensions/late.ts": code } });
		expect(text).toContain(REFUSAL);
		expect(text).not.toContain(SECRET);
	});

	test("a session that another extension makes and throws away, with ours in it, does not end pi", async () => {
		const rules = [
			converse(lastUserSays("Say hello."), say("Hello.")),
			converse(offersTool("nest"), ...Array(3).fill(callTool("nest", {})), say("All nested.")),
		];
		await using it = await scene(rules, {
			extensions: [],
			settings: { packages: [extensionDir] },
			agentFiles: { "extensions/nest.ts": NESTS },
		});
		const { stdout, stderr, code } = await runPrint({ env: it.env, pi }, "Please nest.");
		expect({ stdout, stderr, code }).toEqual({ stdout: "All nested.\n", stderr: "", code: 0 });
	});

	test("an extension that was given with -e can be named, by name or path, and its tools are offered", async () => {
		const hello = await elsewhere("hello.ts", `export default (pi) => { ${TOOL("hello")} };\n`);
		const presets = {
			byname: "extensions: hello\n",
			bypath: `extensions: "${hello}"\n`,
			every: "extensions: true\n",
			apart: "extensions: true\nrunner: process\n",
			some: "extensions: hello\ntools: read\n",
			plain: "",
			wrong: "extensions: helo\n",
		};
		const withHello = "bash edit hello read write";
		expect(await offered(pi, presets, { extensions: [hello, extensionDir] })).toEqual([
			...[withHello, withHello, withHello, withHello],
			...["read", DEFAULTS, expect.stringContaining('asks for the extension "helo", but there is hello')],
		]);
	});

	test("another sub-agent extension never runs inside our agents, also if it came first", async () => {
		const crew = await elsewhere("crew.ts", `export default (pi) => { ${TOOL("Agent")} ${TOOL("crew_notes")} };\n`);
		const presets = {
			every: 'extensions: true\ntools: "*"\n',
			leaf: 'extensions: true\ntools: "*"\nsubagents: none\n',
			apart: 'extensions: true\ntools: "*"\nrunner: process\n',
			named: "extensions: crew\n",
		};
		const options = {
			extensions: [],
			settings: { packages: [crew, extensionDir] },
			agentFiles: { "subagents.json": JSON.stringify({ maxDepth: 1 }) },
		};
		const own = "bash edit find grep ls read write";
		expect(await offered(pi, presets, options)).toEqual([
			...[own, own, own],
			expect.stringContaining(
				'asks for the extension "crew", which launches agents itself and is never loaded into one',
			),
		]);
	});

	test("doctor says whose tools they are if another extension has the names of ours", async () => {
		const crew = await elsewhere("crew.ts", `export default (pi) => { ${TOOL("Agent")} ${TOOL("steer_subagent")} };\n`);
		const doctor = async (packages: string[]) => {
			await using it = await scene([], { extensions: [], settings: { packages } });
			const { stdout, stderr } = await runPrint({ env: it.env, pi }, "/subagent doctor");
			return `${stdout}${stderr}`.replace(/\s+/g, " ");
		};
		const after = await doctor([crew, extensionDir]);
		expect(after).toMatch(/Agent, steer_subagent are not ours but crew's \(.*crew\.ts\), which pi loads before/);
		expect(after).not.toMatch(/No problems found|uses its default text|agents can use [^✗✓]*Agent/);
		expect(await doctor([extensionDir, crew])).toMatch(
			/Agent, steer_subagent of crew \(.*\) cannot be called: pi uses ours/,
		);
		expect(await doctor([extensionDir])).toContain("uses its default text");
	});

	test("a package that is a file, or a directory without a manifest, is no preset that cannot be used", async () => {
		const file = await elsewhere("hello.ts", `export default (pi) => { ${TOOL("hello")} };\n`);
		const index = await elsewhere("index.ts", "export default () => undefined;\n");
		const options = { extensions: [], settings: { packages: [file, dirname(index), extensionDir] } };
		await using it = await scene(
			[converse(offersTool("subagent"), callTool("subagent", { preset: "nobody", task: "Work." }), say("I see."))],
			options,
		);
		const { stderr } = await runPrint({ env: it.env, pi }, "Please launch it.");
		const [said] = it.server.requests.at(-1)?.lastToolResults ?? [];
		expect(`${stderr}${said?.text}`).toContain('There is no preset "nobody"');
		expect(`${stderr}${said?.text}`).not.toMatch(/package\.json|Not all could be read|Preset not used/);
	});
});
