/** Published extensions that guard pi, in agents of real pi: what they refuse the session they refuse its agents. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	availablePis,
	callTool,
	converse,
	createTempDir,
	offersTool,
	requireTool,
	runJson,
	say,
	startRpc,
} from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { guardedScene, SECRET } from "../../support/env-guard.ts";
import { backgroundBlocker, permissionSystem, planMode } from "../../support/packages/guards.ts";
import { asRepository } from "../../support/repository.ts";
import { isScout, type Scene, scoutSays, unfenced } from "../../support/scene.ts";
import { endTmuxWith } from "../../support/tmux.ts";

const packages = {
	permissions: await permissionSystem(),
	plan: await planMode(),
	processes: await backgroundBlocker(),
};
const runners = ["session", "process", ...(requireTool("tmux") ? ["tmux"] : []), "local", "worktree"] as const;

interface Call {
	tool: string;
	input: Record<string, unknown>;
}

interface World {
	package: string;
	where: (typeof runners)[number];
	agentFiles?: Record<string, string>;
	tools?: string[];
	/** What the session does itself first, and then the agent. */
	call: Call;
	/** More of the launch. */
	launch?: Record<string, unknown>;
	/** More of the project. */
	files?: Record<string, string>;
}

/** The session tries it, and then an agent does. */
async function world({
	package: dir,
	where,
	agentFiles = {},
	tools = ["read", "bash", "write"],
	call,
	launch: more = {},
	files = {},
}: World): Promise<Scene> {
	const tmux = where === "tmux" ? await createTempDir("tmux-") : undefined;
	const subagents = {
		...(where === "process" || where === "tmux" ? { runner: where } : {}),
		...(where === "local" ? { machine: "local" } : {}),
		agentOverrides: { "repo-scout": { tools } },
	};
	const isolation = where === "worktree" ? { isolation: "worktree" } : {};
	const launch = callTool("subagent", { preset: "repo-scout", task: "Try it.", ...isolation, ...more });
	const it = await guardedScene(
		{
			settings: { packages: [dir] },
			agentFiles,
			files,
			subagents,
			...(tmux && { variables: { TMUX_TMPDIR: tmux.path } }),
		},
		[
			scoutSays(callTool(call.tool, call.input), ({ lastToolResults }) => say(`I got: ${lastToolResults[0]?.text}`)),
			converse(offersTool("Agent"), callTool(call.tool, call.input), launch, ({ lastToolResults }) =>
				say(`My agent reports: ${unfenced(lastToolResults[0]?.text)}`),
			),
		],
	);
	if (tmux) endTmuxWith(it.env, tmux);
	await asRepository(it);
	return it;
}

const resultsOf = (it: Scene) => {
	const texts = (requests: typeof it.server.requests) =>
		requests.flatMap(({ lastToolResults }) => lastToolResults.map(({ text }) => text));
	return {
		session: texts(it.server.requests.filter((request) => !isScout(request)))[0],
		agent: texts(it.server.requests.filter(isScout))[0],
	};
};

const rules = (action: string) => ({
	"extensions/pi-permission-system/config.json": JSON.stringify({
		permission: { "*": "allow", path: { "*": "allow", "*.env": action }, external_directory: "allow" },
	}),
});

describe.each(await availablePis())("pi $version", (pi) => {
	describe.each(runners)("%s", (where) => {
		test("the permission system: what is denied to the session is denied to its agents", async () => {
			const call = { tool: "read", input: { path: "secret.env" } };
			await using it = await world({ package: packages.permissions, where, agentFiles: rules("deny"), call });
			await runJson({ env: it.env, pi }, "Please try.");
			const { session, agent } = resultsOf(it);
			expect([session, agent]).toEqual([expect.stringMatching(/secret\.env/), expect.stringMatching(/secret\.env/)]);
			expect(`${session}${agent}`).not.toContain(SECRET);
			expect(agent).toMatch(/denied|not (?:permitted|allowed)/i);
		});

		test("a blocker of background commands: refused in the session, refused in its agents", async () => {
			const agentFiles = {
				"extensions/processes.json": JSON.stringify({ interception: { blockBackgroundCommands: true } }),
			};
			const call = { tool: "bash", input: { command: "sleep 0 &" } };
			await using it = await world({ package: packages.processes, where, agentFiles, call });
			await runJson({ env: it.env, pi }, "Please try.");
			const refused = expect.stringContaining("Shell background patterns (&, nohup, disown, setsid) are not allowed");
			expect(resultsOf(it)).toEqual({ session: refused, agent: refused });
		});

		test("a plan mode that the user switched on holds in agents", async () => {
			const call = { tool: "edit", input: { path: "notes.txt", edits: [{ oldText: "The", newText: "A" }] } };
			await using it = await world({ package: packages.plan, where, tools: ["read", "edit"], call });
			const dir = await createTempDir("session-");
			onTestFinished(() => dir.remove());
			const plan = join(it.env.cwd, "plan.md");
			await writeFile(plan, "# Plan\n");
			await mkdir(dir.path, { recursive: true });
			const file = join(dir.path, "session.jsonl");
			const at = "2026-01-01T00:00:00.000Z";
			const entry = { planPath: plan, active: true, createdAt: at };
			const lines = [
				{ type: "session", version: 3, id: "11111111-1111-4111-8111-111111111111", timestamp: at, cwd: it.env.cwd },
				{ type: "custom", id: "00000001", parentId: null, timestamp: at, customType: "plan-mode", data: entry },
			];
			await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
			await runJson({ env: it.env, pi, args: ["--session", file] }, "Please try.");
			const refused = expect.stringContaining("Plan mode active");
			expect(resultsOf(it)).toEqual({ session: refused, agent: refused });
		});
	});

	test.each(["session", "process"] as const)(
		"the permission system asks the user about an agent's call (%s)",
		async (where) => {
			const call = { tool: "read", input: { path: "secret.env" } };
			await using it = await world({ package: packages.permissions, where, agentFiles: rules("ask"), call });
			await using rpc = startRpc({ env: it.env, pi });
			await rpc.send({ type: "prompt", message: "Please try." });
			const ask = async () => {
				const asked = await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "select");
				if (asked.type !== "extension_ui_request" || !("options" in asked)) throw new Error("no choice");
				return asked;
			};
			const first = await ask();
			const no = (options: readonly string[]) =>
				options.find((option) => /^(?:no|deny)/i.test(option)) ?? options.at(-1) ?? "";
			rpc.answer({ type: "extension_ui_response", id: first.id, value: no(first.options) });
			const second = await rpc.waitFor(
				(event) => event.type === "extension_ui_request" && event.method === "select" && event.id !== first.id,
			);
			if (second.type !== "extension_ui_request" || !("options" in second)) throw new Error("no choice");
			expect(second.title).toMatch(/agent repo-scout/);
			rpc.answer({ type: "extension_ui_response", id: second.id, value: no(second.options) });
			await rpc.waitFor((event) => event.type === "agent_settled");
			expect(JSON.stringify(resultsOf(it))).not.toContain(SECRET);
			expect(resultsOf(it).agent).toBeDefined();
		},
	);

	test.each(["session", "process"] as const)("without a user, what would be asked is denied (%s)", async (where) => {
		const call = { tool: "read", input: { path: "secret.env" } };
		await using it = await world({ package: packages.permissions, where, agentFiles: rules("ask"), call });
		await runJson({ env: it.env, pi }, "Please try.");
		const { session, agent } = resultsOf(it);
		expect(agent).toBeDefined();
		expect(`${session}${agent}`).not.toContain(SECRET);
	});

	const project = (permission: Record<string, unknown>) => ({
		".gitignore": ".pi\n",
		".pi/extensions/pi-permission-system/config.json": JSON.stringify({ permission }),
		"src/b.txt": "b",
	});
	const user = (permission: Record<string, unknown>) => ({
		"extensions/pi-permission-system/config.json": JSON.stringify({ permission: { "*": "allow", ...permission } }),
	});

	test.each(["session", "process"] as const)(
		"the permission system: the directory that a call chooses does not move its boundary (%s)",
		async (where) => {
			const outside = await createTempDir("outside-");
			onTestFinished(() => outside.remove());
			const file = join(outside.path, "secret.txt");
			await writeFile(file, SECRET);
			await using it = await world({
				package: packages.permissions,
				where,
				agentFiles: user({ external_directory: "deny" }),
				call: { tool: "read", input: { path: file } },
				launch: { cwd: outside.path },
			});
			await runJson({ env: it.env, pi }, "Please try.");
			const refused = expect.stringContaining("outside working directory");
			expect(resultsOf(it)).toEqual({ session: refused, agent: refused });
		},
	);

	test.each([
		["session", {}],
		["session", { cwd: "src" }],
		["session", { isolation: "worktree" }],
		["process", { cwd: "src" }],
		["process", { isolation: "worktree" }],
	] as const)("the permission system: a project's own rules hold in runner %s with %j", async (where, launch) => {
		const call = { tool: "bash", input: { command: "touch it" } };
		const files = project({ bash: { "touch *": "deny" } });
		await using it = await world({ package: packages.permissions, where, agentFiles: user({}), call, launch, files });
		await runJson({ env: it.env, pi, args: ["--approve"] }, "Please try.");
		const refused = expect.stringContaining("touch it");
		expect(resultsOf(it)).toEqual({ session: refused, agent: refused });
	});

	test.each(["session", "process"] as const)(
		"the permission system: an agent may write in its own worktree though nothing outside is allowed (%s)",
		async (where) => {
			await using it = await world({
				package: packages.permissions,
				where,
				agentFiles: user({ external_directory: "deny" }),
				call: { tool: "write", input: { path: "new.txt", content: "x" } },
				launch: { isolation: "worktree" },
			});
			await runJson({ env: it.env, pi }, "Please try.");
			expect(resultsOf(it).agent).toContain("Successfully wrote");
		},
	);
});
