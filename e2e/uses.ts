/**
 * `npm run uses`: the four uses of this project, each from packed tarballs in an empty directory. It prints what each
 * showed, and fails when one did not.
 */
import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createPiEnv, createTempDir, piUnderTest, startModelServer } from "@pi-subagents-dev/testkit";
import { install, installed, lend, packAll, root, run } from "./support/packages/packed.ts";
import { askForRisks, riskRules } from "./support/packages/risks.ts";

const temp = await createTempDir("pi-uses-");
const at = (...parts: string[]) => join(temp.path, ...parts);
const node = (file: string) => [process.execPath, ["--disable-warning=ExperimentalWarning", file]] as const;
const say = (title: string, printed: string) => console.log(`\n== ${title}\n${printed.trimEnd()}`);

const tarballs = await packAll(at("tarballs"));
const server = await startModelServer({ rules: riskRules });
const env = await createPiEnv({ server, files: { "src/store.js": "", "src/tracker.js": "" } });

try {
	say("The progress formatter in another tool", await progressFormatter());
	say("Preset loading in another tool", await presetLoading());
	say("An extension that asks agents of this one over RPC", await rpcBetweenExtensions());
	say("The full extension, installed into pi", await fullExtension());
} finally {
	await env.cleanup();
	await server.close();
	await temp.remove();
}

/** An example of this repository, alone with what it depends on. */
async function example(name: string): Promise<string> {
	await cp(join(root, "examples", name), at(name), { recursive: true });
	await install(at(name), { tarballs });
	return at(name);
}

async function fullExtension(): Promise<string> {
	const dir = join(env.cwd, "packed-extension");
	await mkdir(dir);
	await run("tar", ["-xzf", tarballs.extension, "-C", dir, "--strip-components=1"], { cwd: env.cwd });
	const [program, ...leading] = piUnderTest().command;
	const pi = (...args: string[]) => run(program, [...leading, ...args], { cwd: env.cwd, env: env.variables });
	const done = await pi("install", "./packed-extension");
	return `$ pi install ./packed-extension\n${done}$ pi list\n${await pi("list")}`;
}

async function progressFormatter(): Promise<string> {
	const cwd = await example("ci-log");
	const event = { type: "tool_execution_start", toolCallId: "1", toolName: "read", args: { path: "src/auth.ts" } };
	const line = await run("npx", ["--no-install", "pi-progress"], { cwd, input: `${JSON.stringify(event)}\n` });
	const input = await readFile(join(cwd, "session.jsonl"), "utf8");
	const printed = await run(...node("main.ts"), { cwd, input });
	return `$ pi --mode json -p … | pi-progress\n${line}$ node main.ts < session.jsonl\n${printed}`;
}

async function presetLoading(): Promise<string> {
	const cwd = await example("preset-cli");
	const variables = { ...process.env, PI_CODING_AGENT_DIR: at("nobody") };
	return `$ node cli.ts\n${await run(...node("cli.ts"), { cwd, env: variables })}`;
}

async function rpcBetweenExtensions(): Promise<string> {
	const dir = await example("rpc-extension");
	await lend(dir, "@earendil-works/pi-coding-agent", "extension");
	const other = await installed(at("other"), ["extension"], { tarballs });
	const shown = await askForRisks(env, [dir, join(other, "node_modules/@pi-subagents/extension")]);
	if (shown !== "1 risky: src/store.js") throw new Error(`the agent's answer came as: ${shown}`);
	return `> /risks src\n${shown}`;
}
