/** A session with jobs: real presets, manager, journal, delivery and scheduler; children are puppets, time moves by hand. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { allAgents, type RunSpec } from "@pi-subagents/core";
import {
	createGitTrust,
	createLauncher,
	type LaunchHost,
	type Schedules,
	type StoredTrust,
	type WorktreeRequest,
} from "@pi-subagents/launch";
import { requireResources } from "@pi-subagents/runners/session";
import { createAgentTool, modelParameter } from "@pi-subagents/tools";
import { hostIn } from "../../../launch/test/fixture.ts";
import { conversation, type Host } from "../../src/host/host.ts";
import { createScheduleCall, createSchedules } from "../../src/schedule/schedules.ts";
import { open } from "../fixtures/fake-session.ts";

export interface SessionOptions {
	trust?: StoredTrust;
	mode?: "tui" | "rpc" | "print" | "json";
	/** Whether pi keeps the session in a file. */
	isKept?: boolean;
	sessionId?: string;
}

/** Where sessions are opened, one after the other or side by side. */
export async function place() {
	const root = await mkdtemp(join(tmpdir(), "schedule-"));
	const [cwd, agentDir] = [join(root, "project"), join(root, "agent")];
	await Promise.all([mkdir(cwd), mkdir(agentDir)]);
	const sessions: { shutdown(): Promise<void> }[] = [];
	return {
		cwd,
		agentDir,
		async write(path: string, content: string) {
			await mkdir(dirname(join(root, path)), { recursive: true });
			await writeFile(join(root, path), content);
		},
		remove: (path: string) => rm(join(root, path), { recursive: true }),
		async session(options: SessionOptions = {}) {
			const opened = await openSession(cwd, agentDir, options);
			sessions.push(opened);
			return opened;
		},
		async [Symbol.asyncDispose]() {
			for (const session of sessions) await session.shutdown();
			await rm(root, { recursive: true, maxRetries: 5 });
		},
	};
}

async function openSession(
	cwd: string,
	agentDir: string,
	{ trust = "unasked", mode = "tui", isKept = false, sessionId = "s1" }: SessionOptions,
) {
	const session = await open();
	const { manager, delivery, clock } = session;
	const sessionManager = {
		getSessionId: () => sessionId,
		getSessionFile: () => (isKept ? "session.jsonl" : undefined),
		buildSessionProjection: () => ({ messages: [] }),
	};
	const modelRegistry = { find: () => undefined };
	const ctx = { cwd, mode, sessionManager, modelRegistry } as unknown as ExtensionContext;
	const told: string[] = [];
	const heard: [channel: string, event: unknown][] = [];
	const onShutdown: (() => Promise<void>)[] = [];
	const pi = {
		on: (_type: string, handler: () => Promise<void>) => onShutdown.push(handler),
		events: { emit: (channel: string, event: unknown) => heard.push([channel, event]) },
	} as unknown as ExtensionAPI;
	let isOpen = true;
	const host: Host & LaunchHost<ExtensionContext> = {
		...hostIn<ExtensionContext>({ cwd, agentDir, trust }),
		warn: (notice: string) => told.push(notice),
		session: () => (isOpen ? ctx : undefined),
		isProjectTrusted: () => trust === "yes",
		requireResources: (spec: RunSpec) => requireResources(host, spec),
		conversation,
		checkWorktree: (asked: WorktreeRequest) => createGitTrust(host, () => undefined).check(asked),
	} as unknown as Host & LaunchHost<ExtensionContext>;
	const launcher = createLauncher(host, (settings) => schedules.configure(settings));
	const schedules: Schedules<ExtensionContext> = createSchedules(pi, {
		manager,
		launcher,
		host,
		delivery,
		clock,
		// What a job resolves again is the call; scripts themselves run in the tests of real pi.
		workflows: {
			load: async () =>
				({
					async prepare({ name }: { name?: string }, _ctx: unknown, { description = "" }: { description?: string }) {
						if (name === "gone") throw new Error('There is no workflow "gone".');
						const { spec } = await launcher.resolve({ preset: "Explore", task: `workflow ${name}`, description }, ctx);
						return spec;
					},
				}) as never,
		},
	});
	await launcher.settings(ctx);
	const tool = createAgentTool({
		agents: allAgents(manager, "session"),
		store: manager.store,
		resolve: async (params) => (await launcher.resolve(params, ctx)).spec,
		caller: "session",
		onGivenUp: () => "user",
		model: modelParameter([], { hasList: false }),
		presets: "",
		schedule: createScheduleCall(schedules),
	});
	return {
		...session,
		ctx,
		told,
		heard,
		launcher,
		schedules,
		/** What other extensions were told of jobs. */
		events: () => heard.flatMap(([channel, event]) => (channel === "subagents:scheduled" ? [event] : [])),
		/** Calls the tool with this `schedule`. */
		schedule: (when: string, more: object = {}) =>
			createScheduleCall(schedules)(
				when,
				{ preset: "Explore", task: "Look around.", description: "look", ...more },
				ctx,
			),
		/** Calls the tool as the model does. */
		call: (more: object) => {
			const params = { prompt: "Look around.", description: "look", subagent_type: "Explore", ...more };
			return tool.execute("call", params as never, undefined, undefined, ctx);
		},
		job: async () => {
			const [first] = await schedules.list(ctx);
			if (!first) throw new Error("There is no job.");
			return first;
		},
		/** Reads the settings once more, as every launch does. */
		settings: () => launcher.settings(ctx),
		async shutdown() {
			isOpen = false;
			for (const handler of onShutdown) await handler();
			await session.shutdown();
		},
	};
}
