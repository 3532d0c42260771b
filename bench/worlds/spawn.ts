/**
 * What an agent costs beyond the session it lives in: ours, with records, slots, limits and progress, beside a bare
 * `createAgentSession` and `prompt` of the same work. Both ask the same scripted model over loopback.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAgentSession, ModelRuntime, SessionManager, SettingsManager } from "@earendil-works/pi-coding-agent";
import { followLive, Manager, type Outcome, type RunSpec, systemClock } from "@pi-subagents/core";
import { createGuards, type SessionHost, sessionRunner } from "@pi-subagents/runners/session";
import { callTool, converse, createPiEnv, hang, lastUserSays, say, startModelServer } from "@pi-subagents-dev/testkit";
import { emptyLoader } from "../fixtures/empty-loader.ts";

const LOOK = "Look around.";
export const HANG = "Wait for ever.";
export const TALK = "Talk at length.";
const TOKENS = "word ".repeat(400);

const server = await startModelServer({
	rules: [
		converse(lastUserSays(LOOK), callTool("ls", { path: "." }), say("All seen.")),
		converse(lastUserSays(HANG), hang()),
		converse(lastUserSays(TALK), say(TOKENS, { chunkSize: 5, chunkDelayMs: 5 })), // 200 tokens a second
	],
});
const env = await createPiEnv({ server });
const runtime = await ModelRuntime.create({
	modelsPath: join(env.agentDir, "models.json"),
	authPath: join(env.agentDir, "auth.json"),
});
const model = runtime.getModel("fake", env.model);

export const requests = server.requests;
export const nextRequest = server.nextRequest;
export const closeWorld = async () => {
	await server.close();
	await env.cleanup();
};

/** A manager without limits on how many may run, as for the bare sessions. */
export function newManager(more: Partial<SessionHost> = {}): Manager {
	let ids = 0;
	const host = { agentDir: env.agentDir, modelRuntime: () => runtime, isProjectTrusted: () => false, ...more };
	return new Manager({
		runners: { session: sessionRunner(host) },
		clock: systemClock,
		newId: () => `a${++ids}`,
		slots: { whenFull: "queue" },
	});
}

export function specFor(task: string): RunSpec {
	return {
		type: "scout",
		description: "look",
		task,
		cwd: env.cwd,
		runner: "session",
		model: `fake/${env.model}`,
		tools: ["ls"],
		limits: {},
		origins: {},
		warnings: [],
	};
}

/** One for all, as a pi session has one. */
const manager = newManager();

/** With one guard, which looks at every call. */
const GUARD = `export default (pi) => {
	pi.on("tool_call", ({ input }) => (JSON.stringify(input).includes(".env") ? { block: true, reason: "No." } : undefined));
};`;

/** The same agents, of a user who has one guard. */
export async function guardedManager(): Promise<Manager> {
	const agentDir = join(env.root, "guarded");
	await mkdir(join(agentDir, "extensions"), { recursive: true });
	await writeFile(join(agentDir, "extensions", "gate.ts"), GUARD);
	const session = () => ({ cwd: env.cwd, sessionManager: SessionManager.inMemory(env.cwd) });
	const guards = createGuards({ agentDir, session, isProjectTrusted: () => false, rule: () => "on", argv: [] });
	if ((await guards.find()).length !== 1) throw new Error("the guard was not found");
	return newManager({ guards });
}

/** As many directories, as agents in worktrees have. */
export async function directories(count: number): Promise<string[]> {
	const paths = Array.from({ length: count }, (_, index) => join(env.root, "trees", String(index)));
	await Promise.all(paths.map((path) => mkdir(path, { recursive: true })));
	return paths;
}

/** One agent in each directory. */
export async function runIn(those: Manager, cwds: readonly string[]): Promise<void> {
	const ids = cwds.map((cwd) => those.spawn({ ...specFor(LOOK), cwd }).id);
	const outcomes = await Promise.all(ids.map((id) => those.wait(id)));
	const bad = outcomes.find(({ status }) => status !== "completed");
	if (bad) throw new Error(JSON.stringify(bad));
}

/** Where the session works. */
export const here = env.cwd;

export async function runOurs(count: number, task = LOOK): Promise<Outcome[]> {
	const ids = Array.from({ length: count }, () => manager.spawn(specFor(task)).id);
	const outcomes = await Promise.all(ids.map((id) => manager.wait(id)));
	const bad = outcomes.find(({ status }) => status !== "completed");
	if (bad) throw new Error(JSON.stringify(bad));
	return outcomes;
}

/** With everything that followers of live text hear. */
export async function runFollowed(count: number, task: string): Promise<Outcome[]> {
	let length = 0;
	const feed = followLive(manager, { onDelta: ({ text }) => (length += text.length) });
	const outcomes = await runOurs(count, task);
	feed.close();
	if (length !== count * TOKENS.length) throw new Error(`${length} characters were told`);
	return outcomes;
}

export async function runBare(count: number, task = LOOK): Promise<string[]> {
	const sessions = await Promise.all(Array.from({ length: count }, bareSession));
	return Promise.all(
		sessions.map(async (session) => {
			await session.prompt(task);
			const text = session.getLastAssistantText() ?? "";
			session.dispose();
			if (text === "") throw new Error("no answer");
			return text;
		}),
	);
}

export async function bareSession() {
	if (!model) throw new Error("the scripted model is not there");
	const { session } = await createAgentSession({
		cwd: env.cwd,
		agentDir: env.agentDir,
		modelRuntime: runtime,
		model,
		tools: ["ls"],
		resourceLoader: emptyLoader(),
		settingsManager: SettingsManager.inMemory(),
		sessionManager: SessionManager.inMemory(env.cwd),
	});
	return session;
}
