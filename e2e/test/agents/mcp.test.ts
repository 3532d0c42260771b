/** Tools of MCP servers in agents, in real pi and with real servers, over stdio and HTTP, in every runner. The gate has one case for each pi. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
	all,
	assistantTexts,
	availablePis,
	callTool,
	converse,
	createTempDir,
	isFullRun,
	lastUserSays,
	offersTool,
	type PiBinary,
	type PiEnvOptions,
	type ReplySource,
	requireTool,
	runJson,
	say,
	slowdown,
	systemPromptSays,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { startHttpServer } from "../../support/mcp/http.ts";
import { type Scene, scene, unfenced } from "../../support/scene.ts";
import { endTmuxWith } from "../../support/tmux.ts";

const SERVER = fileURLToPath(new URL("../../support/mcp/server.mjs", import.meta.url));
const pis = await availablePis();
const modern = pis.filter(({ version }) => !version.startsWith("0."));
const inFull = isFullRun ? modern : [];
const runners = isFullRun ? ["session", "process"] : ["session"];
const everyRunner = isFullRun && requireTool("tmux") ? [...runners, "tmux"] : runners;

/** Servers for an `mcp.json`; each notes its start in a file of the test's home. */
const servers = (...names: readonly string[]) =>
	JSON.stringify({
		mcpServers: Object.fromEntries(
			names.map((name) => {
				const mode = name === "silent" ? ["silent"] : [];
				return [
					name,
					{ command: "node", args: [SERVER, name, "~/started", ...mode], timeout: Math.ceil(2 * slowdown()) },
				];
			}),
		),
	});
const preset = (fields: string) => `---\ndescription: Of the test\n${fields}\n---\nYou are the clerk.\n`;
const launch = callTool("Agent", {
	prompt: "Work.",
	description: "x",
	subagent_type: "clerk",
	run_in_background: false,
});

interface Answer {
	said: string;
	/** The tools that the agent was offered, if it was asked anything. */
	tools: string[] | undefined;
	/** The servers that were started, by the session and by the agent. */
	started: string[];
	stderr: string;
}

/** The session launches the clerk, which makes these calls, and says what came of it. */
async function once(pi: PiBinary, options: Omit<PiEnvOptions, "server">, ...calls: readonly ReplySource[]) {
	const isClerk = systemPromptSays("You are the clerk.");
	const home = await createTempDir("tmux-"); // a socket's path must be short
	await using it = await scene(
		[
			converse(all(offersTool("Agent"), lastUserSays("Please delegate.")), launch, ({ lastToolResults }) =>
				say(`Heard: ${unfenced(lastToolResults[0]?.text)}`),
			),
			converse(all(isClerk), ...calls, ({ lastToolResults }) =>
				say(`Clerk: ${lastToolResults.map(({ text }) => text).join(", ")}`),
			),
		],
		{ ...options, variables: { TMUX_TMPDIR: home.path } },
	);
	endTmuxWith(it.env, home);
	const { events, stderr } = await runJson({ env: it.env, pi }, "Please delegate.");
	const request = it.server.requests.find((each) => isClerk(each));
	return {
		said: assistantTexts(events).at(-1) ?? "",
		tools: request?.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp")),
		started: await startedIn(it),
		stderr,
	} satisfies Answer;
}

async function startedIn({ env }: Scene): Promise<string[]> {
	const text = await readFile(join(env.home, "started"), "utf8").catch(() => "");
	return text.split("\n").filter(Boolean).sort();
}

const add = callTool("mcp__my_tools__add", { a: 19, b: 23 });

describe.each(pis)("pi $version", (pi) => {
	test.each(everyRunner)(
		"an agent has the tools of the servers that its preset names, and connects no other (%s)",
		async (runner) => {
			const { said, tools, started } = await once(
				pi,
				{
					agentFiles: {
						"mcp.json": servers("my-tools", "other"),
						"agents/clerk.md": preset(`tools: read, mcp:my-tools/add\nrunner: ${runner}`),
					},
				},
				add,
			);
			if (!modern.includes(pi)) {
				expect(said).toMatch(/the MCP server "my_tools", but MCP servers need pi 0\.99 or newer, and this is pi 0\.87/);
				return expect(tools).toBeUndefined();
			}
			expect(said).toContain("Clerk: 42");
			expect(tools).toEqual(["mcp__my_tools__add"]);
			expect(started).toEqual(["my-tools", "my-tools", "other"]);
		},
	);
});

describe.each(inFull)("pi $version", (pi) => {
	test.each(runners)("a whole server, without what is denied (%s)", async (runner) => {
		const fields = `mcpServers: my-tools\ndisallowed_tools: mcp__my-tools__add\nrunner: ${runner}`;
		const files = { "mcp.json": servers("my_tools"), "agents/clerk.md": preset(fields) };
		const reverse = callTool("mcp__my_tools__reverse_text", { text: "pi" });
		const { said, tools } = await once(pi, { agentFiles: files }, reverse);
		expect(said).toContain("Clerk: ip");
		expect(tools).toEqual(["mcp__my_tools__reverse_text"]);
	});

	test.each(runners)("a server that never answers ends the launch with its name (%s)", async (runner) => {
		const files = {
			"mcp.json": servers("silent"),
			"agents/clerk.md": preset(`tools: mcp__silent__add\nrunner: ${runner}`),
		};
		const { said, tools } = await once(pi, { agentFiles: files });
		expect(said).toMatch(/The MCP server "silent" offers none of the tools asked for: failed.*timed out/i);
		expect(tools).toBeUndefined();
	});

	test.each(everyRunner)(
		"a server over HTTP; one that wants a sign-in ends the launch with its name (%s)",
		async (runner) => {
			await using open = await startHttpServer("my-tools");
			await using locked = await startHttpServer("locked", { isLocked: true });
			const files = (entry: string) => ({
				"mcp.json": JSON.stringify({ mcpServers: { "my-tools": { url: open.url }, locked: { url: locked.url } } }),
				"agents/clerk.md": preset(`tools: ${entry}\nrunner: ${runner}`),
			});
			const { said, tools } = await once(pi, { agentFiles: files("mcp:my-tools/add") }, add);
			expect(said).toContain("Clerk: 42");
			expect(tools).toEqual(["mcp__my_tools__add"]);
			const refused = await once(pi, { agentFiles: files("mcp:locked") });
			expect(refused.said).toMatch(/The MCP server "locked" offers none of the tools asked for: .*(sign|auth|login)/i);
			expect(refused.tools).toBeUndefined();
		},
	);

	test("a server that is not there fails the launch; a file written for another program loses only that tool", async () => {
		const mcp = { "mcp.json": servers("my-tools") };
		const own = await once(pi, { agentFiles: { ...mcp, "agents/clerk.md": preset("tools: read, mcp:nowhere") } });
		expect(own.said).toMatch(/There is no enabled MCP server "nowhere" here; there is my-tools/);
		expect(own.tools).toBeUndefined();
		const foreign = await once(
			pi,
			{
				agentFiles: { ...mcp, "subagents.json": JSON.stringify({ imports: ["claude"] }) },
				files: { "../home/.claude/agents/clerk.md": preset("tools: Read, mcp__nowhere__x, mcp__my-tools__add") },
			},
			add,
		);
		expect(foreign.said).toContain("Clerk: 42");
		expect(foreign.tools).toEqual(["mcp__my_tools__add"]);
		expect(foreign.stderr).toContain(
			'Agent clerk runs without some of its tools. There is no enabled MCP server "nowhere" here; there is my-tools.',
		);
	});

	test.each(runners)("a project's server is started only if the user trusts the project (%s)", async (runner) => {
		const files = {
			files: { ".pi/mcp.json": servers("my-tools") },
			agentFiles: { "agents/clerk.md": preset(`tools: mcp:my-tools\nrunner: ${runner}`) },
		};
		const { said, tools, started } = await once(pi, files);
		expect(said).toMatch(/There is no enabled MCP server "my_tools" here; there is none/);
		expect({ tools, started }).toEqual({ tools: undefined, started: [] });
		const trusted = await once(pi, { ...files, settings: { defaultProjectTrust: "always" } }, add);
		expect(trusted.said).toContain("Clerk: 42");
		expect(trusted.started).toEqual(["my-tools", "my-tools"]);
	});
});
