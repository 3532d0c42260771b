/** Agents inside a launcher: the recipe of docs/sandboxes.md with real bubblewrap, and launchers that cannot be used. */
import { writeFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import {
	callTool,
	converse,
	gatePis,
	isFullRun,
	type RequestView,
	type Rule,
	requireTool,
	runPrint,
	say,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { ONE_LINE_GUARD, REFUSAL } from "../../support/env-guard.ts";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { listening, offerSandbox } from "../../support/sandbox.ts";
import { parentSays, type Scene, scene } from "../../support/scene.ts";
import { asStranger, launchStranger, resultsOf, stranger, tellsParent } from "../../support/stranger.ts";

const PIS = await gatePis();
const SECRET = "moonstone";

interface Sandboxed extends Scene {
	/** How often somebody connected to a port that is open outside. */
	knocks(): number;
	/** Writes the recipe, or nothing, as the user's settings. */
	settle(text?: string): void;
}

/** The user's files, a port that is open outside, and the socket that leads to the model. */
async function sandboxed(fields: string, rules: (port: number) => readonly Rule[]): Promise<Sandboxed> {
	let knocks = 0;
	const canary = await listening(
		createServer((socket) => {
			knocks++;
			socket.on("error", () => undefined).end("open"); // it may be gone before it has read that
		}),
		0,
	);
	const address = canary.address();
	const port = typeof address === "object" && address ? address.port : 0;
	const it = await scene(rules(port), { agentFiles: { "agents/stranger.md": stranger(fields) } });
	const { home, agentDir } = it.env;
	for (const dir of [join(home, ".ssh"), join(agentDir, "sessions")]) await mkdir(dir, { recursive: true });
	await writeFile(join(home, ".ssh/id_ed25519"), SECRET);
	await writeFile(join(agentDir, "auth.json"), JSON.stringify({ other: { type: "api_key", key: SECRET } }));
	await writeFile(join(agentDir, "sessions/earlier.jsonl"), SECRET);
	const sandbox = await offerSandbox(it);
	return {
		...it,
		knocks: () => knocks,
		settle: sandbox.settle,
		async [Symbol.asyncDispose]() {
			canary.close();
			sandbox.close();
			await it[Symbol.asyncDispose]();
		},
	};
}

/** Each line says what succeeded or failed; a child without a sandbox succeeds at all of it. */
const attempts = (port: number) => `
try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name: done"; else echo "$name: refused"; fi; }
try network node -e 'require("net").connect(${port}, "127.0.0.1").on("connect", () => process.exit(0)).on("error", () => process.exit(1))'
try ssh cat "$HOME/.ssh/id_ed25519"
try keys grep ${SECRET} "$PI_CODING_AGENT_DIR/auth.json"
try sessions cat "$PI_CODING_AGENT_DIR/sessions/earlier.jsonl"
try others test "$(ls .pi/subagents/runs | wc -l)" -gt 1
try meta sh -c 'echo >> "$PI_SUBAGENTS_RUN_DIR/meta.json"'
try presets touch .pi/evil
try home touch "$HOME/../home/left-behind"
try parent kill -0 $(cat parent.pid)
try work touch made.txt
`;
const NAMES = ["network", "ssh", "keys", "sessions", "others", "meta", "presets", "parent"];
const tries = (port: number) =>
	converse(asStranger, callTool("bash", { command: attempts(port) }), (request) => say(resultsOf(request)));

/** Something of another run, and of the process that must not be seen. */
async function surround(it: Scene): Promise<void> {
	await mkdir(join(it.env.cwd, ".pi/subagents/runs/other"), { recursive: true });
	await writeFile(join(it.env.cwd, ".pi/subagents/runs/other/meta.json"), "{}");
	await writeFile(join(it.env.cwd, "parent.pid"), String(process.pid));
}

describe.skipIf(!requireTool("bwrap")).each(PIS)("pi $version", (pi) => {
	test("inside the recipe the user's guards hold; one whose file it hides fails the run", async () => {
		await using it = await sandboxed("launcher: offline", () => [
			parentSays(launchStranger(), tellsParent),
			converse(asStranger, callTool("bash", { command: "cat secret.env" }), (request) => say(resultsOf(request))),
		]);
		const { agentDir, cwd, home } = it.env;
		await mkdir(join(agentDir, "extensions"));
		await writeFile(join(agentDir, "extensions/env-guard.ts"), ONE_LINE_GUARD);
		await writeFile(join(cwd, "secret.env"), SECRET);
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect(stdout).toContain(REFUSAL);
		expect(stdout).not.toContain(SECRET);
		const hidden = join(home, "gate.ts");
		await writeFile(hidden, ONE_LINE_GUARD);
		const failed = await runPrint({ env: it.env, pi, args: ["-e", hidden] }, "Please delegate.");
		expect(failed.stdout).toMatch(/gate guards agents and could not be loaded .*a launcher must show it to the agent/s);
		expect(failed.stdout).not.toContain(SECRET);
	});

	test("inside the recipe, network, home and the parent's files are out of reach, also for the verify command", async () => {
		const check = `verify: 'test -e made.txt && test ! -e "$HOME/.ssh" && touch checked.txt'`;
		await using it = await sandboxed(`launcher: offline\nrunner: session\n${check}`, (port) => [
			parentSays(launchStranger(), tellsParent),
			tries(port),
		]);
		await surround(it);
		const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
		for (const name of NAMES) expect(stdout).toContain(`${name}: refused`);
		expect(stdout).toContain("work: done");
		expect(stdout).toMatch(/Completed in \S+, verified: /);
		expect(it.knocks()).toBe(0);
		expect(await readdir(it.env.cwd)).toEqual(expect.arrayContaining(["made.txt", "checked.txt"]));
		expect((await readdir(it.env.home)).filter((name) => name === "left-behind")).toEqual([]);
	});

	if (isFullRun)
		test("without the launcher, the same attempts succeed", async () => {
			await using it = await sandboxed("runner: process", (port) => [
				parentSays(launchStranger(), tellsParent),
				tries(port),
			]);
			await surround(it);
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			for (const name of [...NAMES, "home", "work"]) expect(stdout).toContain(`${name}: done`);
			expect(it.knocks()).toBe(1);
		});

	if (isFullRun)
		test("a resumed agent runs inside it again, or fails if it is gone", async () => {
			const looks = when(asStranger, (request) =>
				request.lastToolResults.length > 0
					? say(`It says ${resultsOf(request)}`)
					: callTool("bash", { command: 'test -e "$HOME/.ssh" && echo I am outside || echo I am inside' }),
			);
			const heard: string[] = [];
			const resume = (prompt: string, change: () => void) => (request: RequestView) => {
				heard.push(resultsOf(request));
				change();
				return launchStranger({ prompt, resume: /\[agent (\w+)/.exec(heard[0] ?? "")?.[1] });
			};
			await using it = await sandboxed("launcher: offline", () => [
				parentSays(
					launchStranger(),
					resume("Again.", () => writeFileSync(join(it.env.agentDir, "agents/stranger.md"), stranger(""))),
					resume("Once more.", () => it.settle("{}")),
					tellsParent,
				),
				looks,
			]);
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(heard).toEqual([expect.stringContaining("I am inside"), expect.stringContaining("I am inside")]);
			expect(stdout).toContain('the launcher "offline", which your settings do not define. There is none.');
		});
});

const BROKEN: [string, unknown, RegExp][] = [
	["is unknown", {}, /runs inside the launcher "offline", which your settings do not define/],
	["cannot be started", { command: ["/missing/bwrap"] }, /could not be started inside the launcher "offline" as/],
	[
		"fails",
		{ command: ["sh", "-c", "echo no sandbox here >&2; exit 3"] },
		/ended with exit code 3 before the agent had answered: no sandbox here/,
	],
	["is not understood", { command: ["env", "{homes}"] }, /The launcher "offline" says "\{homes\}"/],
];

describe("a launcher that cannot be used", () => {
	test.each(isFullRun ? BROKEN : BROKEN.slice(2, 3))(
		"because it %s fails the run",
		async (_name, offline, expected) => {
			await using it = await scene(
				[parentSays(launchStranger(), tellsParent), when(asStranger, say("I ran anyway."))],
				{
					agentFiles: {
						"agents/stranger.md": stranger("launcher: offline"),
						"subagents.json": JSON.stringify({ launchers: { offline } }),
					},
				},
			);
			const { stdout } = await runPrint({ env: it.env }, "Please delegate.");
			expect(stdout).toMatch(expected);
			expect(stdout).not.toContain("I ran anyway.");
			expect(it.server.requests.some(asStranger)).toBe(false);
		},
	);

	test.each([
		["that the user did not trust names one", false, /may choose one only if you trust the project/],
		["that the user trusts defines one", true, /which your settings do not define/],
	])("because a project %s starts nothing", async (_name, isTrusted, expected) => {
		await using it = await scene([parentSays(launchStranger(), tellsParent), when(asStranger, say("I ran anyway."))], {
			files: {
				".pi/subagents/stranger.md": stranger("launcher: offline"),
				".pi/subagents.json": JSON.stringify({ launchers: { offline: { command: ["touch", "owned.txt"] } } }),
			},
		});
		if (isTrusted) await trust(it.env);
		const { stdout } = await runPrint({ env: it.env }, "Please delegate.");
		expect(stdout).toMatch(expected);
		expect(it.server.requests.some(asStranger)).toBe(false);
		expect(await readdir(it.env.cwd)).not.toContain("owned.txt");
	});
});
