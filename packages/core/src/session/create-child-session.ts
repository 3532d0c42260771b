/** Creates the pi session of a child, with its own loader and settings, and disposes of it. */

import {
	type AgentSession,
	createAgentSession,
	type ModelRuntime,
	type SessionManager,
} from "@earendil-works/pi-coding-agent";
import { bestEffort } from "../base/best-effort.ts";
import { systemClock } from "../base/clock.ts";
import { untilStopped, within } from "../base/timeouts.ts";
import { defined } from "../base/values.ts";
import { memoryPrompt } from "../memory/notes.ts";
import type { RunIdentity, RunSpec } from "../model/runner.ts";
import { splitModelName } from "../resolve/models.ts";
import { originOf } from "../worktree/confine.ts";
import { createFileGuard, guardNestedCalls, guardSession } from "./file-guards.ts";
import { openConversation } from "./history/conversation.ts";
import { hasExtensions, resourcesWithExtensions } from "./resources/extensions.ts";
import type { SessionHost } from "./resources/host.ts";
import { SharedResources } from "./resources/resources.ts";

export interface Child {
	session: AgentSession;
	/** Stops it and disposes of it. */
	close(): Promise<void>;
}

/** How long extensions in a child may take to clean up. */
const SHUTDOWN_MS = 3_000;

export interface CreateChildOptions {
	host: SessionHost;
	resources: SharedResources;
	/** Where its conversation is stored. */
	conversation: Promise<SessionManager>;
	/** When the child was launched, by `performance.now()`: resources read for it must not be older. */
	askedAt: number;
	/** Once it fires, setup stops, what exists is disposed of, and undefined is returned. */
	signal: AbortSignal;
}

export async function createChildSession(
	{ host, resources, conversation, askedAt, signal }: CreateChildOptions,
	spec: RunSpec & RunIdentity,
): Promise<Child | undefined> {
	const { agentDir } = host;
	const { cwd } = spec;
	const modelRuntime = await untilStopped(host.modelRuntime(), signal);
	if (!modelRuntime) return undefined;
	const model = findModel(modelRuntime, spec.model);
	// By default pi would trust every project.
	const scope = { cwd, agentDir, isTrusted: host.isProjectTrusted(originOf(spec)) };
	const memory = await memoryPrompt(spec);
	const guard = createFileGuard(spec, agentDir);
	const loading = hasExtensions(spec)
		? resourcesWithExtensions(host, scope, spec, { memory, last: guardNestedCalls(guard) })
		: resources.resourcesFor(scope, spec, { memory, askedAt });
	const own = await untilStopped(loading, signal);
	if (!own) return undefined;
	const sessionManager = await conversation;
	if (signal.aborted) return undefined;
	const customTools = host.childTools?.(spec) ?? [];
	const { session } = await createAgentSession({
		cwd,
		agentDir,
		modelRuntime,
		model,
		sessionManager,
		settingsManager: own.settingsManager,
		resourceLoader: own.resourceLoader,
		...defined({ thinkingLevel: spec.thinking }),
		customTools,
		tools: [...new Set([...spec.tools, ...customTools.map(({ name }) => name)])],
	});
	skipUnheardEvents(session);
	guardSession(session, guard, cwd);
	const child = announced(host, session, own.hasExtensions);
	try {
		if (own.hasExtensions && !signal.aborted) await bind(host, session, signal);
		if (!signal.aborted) own.check();
	} catch (error) {
		await child.close();
		throw error;
	}
	if (!signal.aborted) return child;
	await child.close();
	return undefined;
}

function findModel(runtime: ModelRuntime, name: string) {
	const { provider, id } = splitModelName(name);
	const model = runtime.getModel(provider, id);
	if (!model) throw new UnavailableModel(`Model ${name} is not available.`);
	return model;
}

/** Thrown before anything of the child exists. */
export class UnavailableModel extends Error {}

/**
 * For each event, every token included, pi makes a context for the handlers of extensions; for each request it copies
 * the whole conversation for them. Most children have no handlers.
 */
function skipUnheardEvents({ extensionRunner: runner }: AgentSession): void {
	const { emit, emitContext } = runner;
	runner.emit = (event) =>
		(runner.hasHandlers(event.type) ? emit.call(runner, event) : NOTHING) as ReturnType<typeof emit<typeof event>>;
	runner.emitContext = async (messages) =>
		CONTEXT_EVENTS.some((type) => runner.hasHandlers(type)) ? emitContext.call(runner, messages) : messages;
}

const NOTHING = Promise.resolve(undefined);
const CONTEXT_EVENTS = ["context", "context_with_system"];

/** Announced on the bus before other extensions run in the session, so that listeners can judge it from the start. */
function announced(host: SessionHost, session: AgentSession, hasExtensions: boolean): Child {
	const { sessionId } = session;
	const parentSessionId = host.parentSessionId?.();
	emitOnBus(host, "session-created", { sessionId, ...defined({ parentSessionId }) });
	return {
		session,
		async close() {
			if (hasExtensions) await shutDown(host, session);
			session.dispose();
			emitOnBus(host, "disposed", { sessionId });
		},
	};
}

async function bind(host: SessionHost, session: AgentSession, signal: AbortSignal): Promise<void> {
	const { sessionId } = session;
	const onError = ({ extensionPath, error }: { extensionPath: string; error: string }) =>
		host.report?.(`The extension ${extensionPath} failed in an agent: ${error}`);
	await untilStopped(session.bindExtensions({ mode: "print", onError }), signal);
	if (!signal.aborted) emitOnBus(host, "bound", { sessionId });
}

/** pi does not notify extensions of a disposed session; what they started would live on. */
async function shutDown({ clock = systemClock, report = ignore }: SessionHost, session: AgentSession): Promise<void> {
	await bestEffort("ending the extensions of an agent", report, async () => {
		const ending = session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
		if (!(await within(SHUTDOWN_MS, ending, clock))) throw new Error(`not done after ${SHUTDOWN_MS / 1_000} s`);
	});
}

function emitOnBus(
	{ events, report = ignore }: SessionHost,
	event: "session-created" | "bound" | "disposed",
	data: { sessionId: string; parentSessionId?: string },
): void {
	void bestEffort("announcing an agent's session", report, () => events?.emit(`subagents:child:${event}`, data));
}

const ignore = (): void => undefined;

export interface SessionPreview {
	/** As sent to the provider. */
	systemPrompt: string;
	/** The size of the tool declarations in characters. */
	toolCharacters: number;
}

export async function previewSession(host: SessionHost, spec: RunSpec): Promise<SessionPreview> {
	const { sessionDir: _kept, events: _told, ...quietHost } = host; // a preview has no conversation and announces nothing
	const identity = { agentId: "preview", run: 1 };
	const { signal } = new AbortController();
	const child = await createChildSession(
		{
			host: quietHost,
			resources: new SharedResources(),
			conversation: openConversation(quietHost, { ...spec, ...identity }),
			askedAt: performance.now(),
			signal,
		},
		{ ...spec, ...identity },
	);
	if (!child) throw new Error("The session was not opened.");
	try {
		const { session } = child;
		const active = new Set(session.getActiveToolNames());
		const tools = session.getAllTools().filter(({ name }) => active.has(name));
		const declared = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
		return { systemPrompt: session.systemPrompt, toolCharacters: JSON.stringify(declared).length };
	} finally {
		await child.close();
	}
}
