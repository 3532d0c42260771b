/** Creates the pi session of a child, with its own loader and settings, and disposes of it. */

import {
	type AgentSession,
	createAgentSession,
	type ModelRuntime,
	type SessionManager,
} from "@earendil-works/pi-coding-agent";
import type { RunIdentity, RunSpec } from "@pi-subagents/core";
import { AgentError, splitModelName, systemClock } from "@pi-subagents/core";
import { bestEffort, defined, untilStopped, within } from "@pi-subagents/core/internal/base";
import { memoryPrompt } from "@pi-subagents/core/internal/run";
import type { FileGuard } from "@pi-subagents/worktree";
import { originOf } from "@pi-subagents/worktree";
import { type ChildExtensions, loadChildExtensions } from "../extensions/child-extensions.ts";
import { childUi } from "./child-ui.ts";
import { createFileGuard, guardNestedCalls, guardSession } from "./file-guards.ts";
import { openConversation } from "./history/conversation.ts";
import { inheritEntries } from "./history/guard-entries.ts";
import { hasExtensions, type LoadExtensions, resourcesWithExtensions } from "./resources/extensions.ts";
import type { SessionHost } from "./resources/host.ts";
import { type ChildResources, SharedResources } from "./resources/resources.ts";

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
	/** A guard failed when the child was about to begin: it must not. */
	onGuardFailure: (why: string) => void;
}

export async function createChildSession(
	options: CreateChildOptions,
	spec: RunSpec & RunIdentity,
): Promise<Child | undefined> {
	const { host, conversation, signal } = options;
	const { agentDir } = host;
	const { cwd } = spec;
	const modelRuntime = await untilStopped(host.modelRuntime(), signal);
	if (!modelRuntime) return undefined;
	const model = findModel(modelRuntime, spec.model);
	const fileGuard = createFileGuard(spec, agentDir);
	const starting = { failure: undefined as string | undefined };
	const own = await resourcesOf(options, spec, fileGuard, (why) => {
		starting.failure ??= why;
		options.onGuardFailure(why);
	});
	if (!own) return undefined;
	const { extensions } = own;
	try {
		const sessionManager = await conversation;
		if (signal.aborted) {
			extensions?.release(false);
			return undefined;
		}
		const state = extensions && (await host.guards?.state());
		if (state) inheritEntries(sessionManager, state);
		const customTools = (host.childTools?.(spec) ?? []).filter(({ name }) => !spec.withheld?.includes(name));
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
		for (const [name, value] of Object.entries(state?.flags ?? {})) session.extensionRunner.setFlagValue(name, value);
		skipUnheardEvents(session);
		guardSession(session, fileGuard, cwd);
		const child = announced(host, session, { agentId: spec.agentId, extensions });
		try {
			if (extensions && !signal.aborted) await child.bind(signal);
			if (!signal.aborted && starting.failure !== undefined) throw new AgentError("refused", starting.failure);
			if (!signal.aborted) own.check();
		} catch (error) {
			await child.close();
			throw error;
		}
		if (!signal.aborted) return child;
		await child.close();
		return undefined;
	} catch (error) {
		extensions?.release(false);
		throw error;
	}
}

/** Undefined if the signal fired first. */
async function resourcesOf(
	{ host, resources, askedAt, signal }: CreateChildOptions,
	spec: RunSpec,
	fileGuard: FileGuard,
	onFailure: (why: string) => void,
): Promise<ChildResources | undefined> {
	const { agentDir } = host;
	const { cwd } = spec;
	// By default pi would trust every project.
	const scope = { cwd, agentDir, isTrusted: host.isProjectTrusted(originOf(spec)) };
	const memory = await memoryPrompt(spec);
	const guards = (await untilStopped(host.guards?.find(), signal)) ?? [];
	if (signal.aborted) return undefined;
	host.guards?.assertWorksIn(guards, spec);
	const load: LoadExtensions = (chosen, inline) =>
		loadChildExtensions({
			guards,
			chosen,
			inline,
			modules: host.guards?.modules,
			loadedFor: host.guards?.cwd() ?? cwd,
			view: host.guards?.viewOf(spec),
			cwd,
			onFailure,
			stopping: signal,
		});
	const last = guardNestedCalls(fileGuard);
	const loading = hasExtensions(spec)
		? resourcesWithExtensions(host, scope, spec, { memory, load, last })
		: guardedResources();
	return untilStopped(loading, signal);

	async function guardedResources(): Promise<ChildResources> {
		const extensions = guards.length > 0 ? await load([], [last]) : undefined;
		return resources.resourcesFor(scope, spec, { memory, extensions, askedAt });
	}
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

interface BindableChild extends Child {
	/** Starts its extensions. */
	bind(signal: AbortSignal): Promise<void>;
}

/** Announced on the bus before other extensions run in the session, so that listeners can judge it from the start. */
function announced(
	host: SessionHost,
	session: AgentSession,
	{ agentId, extensions }: { agentId: string; extensions: ChildExtensions | undefined },
): BindableChild {
	const { sessionId } = session;
	// Permission extensions pass what they have to ask on to the parent, and wait: where no one can answer, for ever.
	const parentSessionId = host.ui && !host.ui.canAnswer() ? undefined : host.parentSessionId?.();
	const ending = new AbortController();
	let hasBegun = false;
	emitOnBus(host, "session-created", { sessionId, ...defined({ parentSessionId }) });
	return {
		session,
		bind(signal) {
			hasBegun = true;
			return bind(host, session, { agentId, signal, ended: AbortSignal.any([signal, ending.signal]) });
		},
		async close() {
			ending.abort();
			const isClean = hasBegun ? await shutDown(host, session) : false;
			session.dispose();
			extensions?.release(isClean);
			emitOnBus(host, "disposed", { sessionId });
		},
	};
}

/** `ended` fires when the child is stopped or closed: from then on no dialog of its extensions is open. */
async function bind(
	host: SessionHost,
	session: AgentSession,
	{ agentId, signal, ended }: { agentId: string; signal: AbortSignal; ended: AbortSignal },
): Promise<void> {
	const { sessionId } = session;
	const onError = ({ extensionPath, error }: { extensionPath: string; error: string }) =>
		host.report?.(`The extension ${extensionPath} failed in an agent: ${error}`);
	const { clock = systemClock } = host;
	const ui = host.ui?.canAnswer() ? { uiContext: childUi(host.ui, { agentId, ended, clock }) } : {};
	// As in a process of its own. In "tui" mode extensions would draw dialogs of their own, which name no agent.
	await untilStopped(session.bindExtensions({ mode: "rpc", ...ui, onError }), signal);
	if (!signal.aborted) emitOnBus(host, "bound", { sessionId });
}

/** pi does not notify extensions of a disposed session; what they started would live on. Returns whether all of them ended. */
async function shutDown(
	{ clock = systemClock, report = ignore }: SessionHost,
	session: AgentSession,
): Promise<boolean> {
	let isDone = false;
	await bestEffort("ending the extensions of an agent", report, async () => {
		const ending = session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
		isDone = await within(SHUTDOWN_MS, ending, clock);
		if (!isDone) throw new Error(`not done after ${SHUTDOWN_MS / 1_000} s`);
	});
	return isDone;
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
	// A preview has no conversation, announces nothing, asks no one, and does nothing that would have to be guarded.
	const { sessionDir: _kept, events: _told, guards: _held, ui: _asked, ...quietHost } = host;
	const identity = { agentId: "preview", run: 1 };
	const { signal } = new AbortController();
	const child = await createChildSession(
		{
			host: quietHost,
			resources: new SharedResources(),
			conversation: openConversation(quietHost, { ...spec, ...identity }),
			askedAt: performance.now(),
			signal,
			onGuardFailure: ignore,
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
