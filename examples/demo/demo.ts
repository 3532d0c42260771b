/**
 * `npm run demo`: real pi with the extension and a model that lives in this process, so no key and no network is needed.
 * In a terminal it opens pi's own screen; elsewhere it prints what the agents do and the final answer.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLineSplitter } from "@pi-subagents/progress";
import { buildReport, readRunDirs, writeHtmlReport } from "@pi-subagents/report";
import { createPiEnv, type PiEnv, piUnderTest, startModelServer } from "@pi-subagents-dev/testkit";
import { createReporter } from "./headless.ts";
import { PROMPT, projectFiles, rules } from "./model.ts";

const extension = dirname(fileURLToPath(import.meta.resolve("@pi-subagents/extension/package.json")));

const hasScreen = process.stdin.isTTY && process.stdout.isTTY;
const server = await startModelServer({ rules: rules({ hasScreen }) });
const env = await createPiEnv({
	server,
	models: [{ id: "offline-demo", name: "Offline demo" }],
	files: await projectFiles(),
	extensions: [extension],
	variables: terminalVariables(),
});
try {
	process.exitCode = hasScreen ? await openScreen(env) : await printHeadless(env);
	await reportOn(env);
} finally {
	await env.cleanup();
	await server.close();
}

function openScreen(world: PiEnv): Promise<number> {
	const [program, ...args] = piUnderTest().command;
	const child = spawn(program, [...args, "-e", extension, "--no-session", PROMPT], {
		cwd: world.cwd,
		env: world.variables,
		stdio: "inherit",
	});
	process.on("SIGINT", () => undefined); // pi decides what Ctrl+C means
	passOnSignals(child);
	return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
}

function printHeadless(world: PiEnv): Promise<number> {
	const [program, ...args] = piUnderTest().command;
	const child = spawn(program, [...args, "--mode", "json", "-e", extension, "--no-session", PROMPT], {
		cwd: world.cwd,
		env: world.variables,
		stdio: ["ignore", "pipe", "inherit"],
	});
	passOnSignals(child);
	const report = createReporter((line) => console.log(line));
	console.log(`> ${PROMPT}\n`);
	const lines = createLineSplitter({ onLine: (line) => report.hear(JSON.parse(line)) });
	child.stdout.on("data", (chunk) => lines.push(chunk));
	return new Promise((resolve) => child.once("close", (code) => resolve(code || (report.hasAnswered() ? 0 : 1))));
}

/** What was just seen, as a page to keep. */
async function reportOn(world: PiEnv): Promise<void> {
	const { runs } = await readRunDirs(join(world.cwd, ".pi", "subagents", "runs")).catch(() => ({ runs: [] })); // none ran
	if (runs.length === 0) return;
	const dir = await mkdtemp(join(tmpdir(), "pi-subagents-demo-"));
	console.log(`\nReport: ${await writeHtmlReport(buildReport(runs, { now: Date.now() }), join(dir, "report.html"))}`);
}

/** On a signal, pi ends before this process does, so that nothing is left behind. */
function passOnSignals(child: ChildProcess): void {
	for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
}

/** pi draws with what the terminal says it can do; everything else of the user's environment stays out. */
function terminalVariables(): Record<string, string> {
	const names = ["TERM", "COLORTERM", "TERM_PROGRAM", "TMUX", "COLUMNS", "LINES"];
	return Object.fromEntries(
		names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
	);
}
