/** Makes the pi session that a child lives in, with a loader and settings of its own, and takes it down again. */
import {
	type AgentSession,
	createAgentSession,
	type ModelRuntime,
	type SessionManager,
} from "@earendil-works/pi-coding-agent";
import { bestEffort } from "../best-effort.ts";
import { systemClock } from "../clock.ts";
import { memoryPrompt } from "../memory/notes.ts";
import { splitModelName } from "../models.ts";
import type { RunIdentity, RunSpec } from "../runner.ts";
import { originOf } from "../worktree/confine.ts";
import { confineSession } from "./confine.ts";
import { equipWithExtensions, wantsExtensions } from "./extensions.ts";
import type { SessionHost } from "./host.ts";
import { untilStopped, within } from "./patience.ts";
import type { SharedResources } from "./resources.ts";

export interface Child {
	session: AgentSession;
	/** Ends what runs in it and forgets it. */
	close(): Promise<void>;
}

/** How long extensions in a child may take to clean up. */
const SHUTDOWN_MS = 3_000;

export interface Opening {
	host: SessionHost;
	resources: SharedResources;
	/** Where it is kept. */
	conversation: Promise<SessionManager>;
	/** When the child was launched, as `performance.now()` tells it: what is read for it must not be older. */
	askedAt: number;
	/** Once it fires nothing more is set up, what there is is taken down, and nothing is returned. */
	signal: AbortSignal;
}

export async function openChild(
	{ host, resources, conversation, askedAt, signal }: Opening,
	spec: RunSpec & RunIdentity,
): Promise<Child | undefined> {
	const { agentDir } = host;
	const { cwd } = spec;
	const modelRuntime = await untilStopped(host.modelRuntime(), signal);
	if (!modelRuntime) return undefined;
	const model = findModel(modelRuntime, spec.model);
	// pi would trust every project if it were not told.
	const place = { cwd, agentDir, isTrusted: host.isProjectTrusted(originOf(spec)) };
	const memory = await memoryPrompt(spec);
	const equipping = wantsExtensions(spec)
		? equipWithExtensions(host, place, spec, memory)
		: resources.equip(place, spec, { memory, askedAt });
	const equipment = await untilStopped(equipping, signal);
	if (!equipment) return undefined;
	const sessionManager = await conversation;
	if (signal.aborted) return undefined;
	const customTools = host.childTools?.(spec) ?? [];
	const { session } = await createAgentSession({
		cwd,
		agentDir,
		modelRuntime,
		model,
		sessionManager,
		settingsManager: equipment.settingsManager,
		resourceLoader: equipment.resourceLoader,
		...(spec.thinking === undefined ? {} : { thinkingLevel: spec.thinking }),
		customTools,
		tools: [...new Set([...spec.tools, ...customTools.map(({ name }) => name)])],
	});
	confineSession(session, spec);
	const child = announced(host, session, equipment.hasExtensions);
	try {
		if (equipment.hasExtensions && !signal.aborted) await bind(host, session, signal);
		if (!signal.aborted) equipment.check();
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

/** Thrown before anything of the child was made. */
export class UnavailableModel extends Error {}

/** Tells the bus before anything of others runs in the session, so that they can judge it from the start. */
function announced(host: SessionHost, session: AgentSession, hasExtensions: boolean): Child {
	const { sessionId } = session;
	const parentSessionId = host.parentSessionId?.();
	tellBus(host, "session-created", { sessionId, ...(parentSessionId === undefined ? {} : { parentSessionId }) });
	return {
		session,
		async close() {
			if (hasExtensions) await shutDown(host, session);
			session.dispose();
			tellBus(host, "disposed", { sessionId });
		},
	};
}

async function bind(host: SessionHost, session: AgentSession, signal: AbortSignal): Promise<void> {
	const { sessionId } = session;
	const onError = ({ extensionPath, error }: { extensionPath: string; error: string }) =>
		host.report?.(`The extension ${extensionPath} failed in an agent: ${error}`);
	await untilStopped(session.bindExtensions({ mode: "print", onError }), signal);
	if (!signal.aborted) tellBus(host, "bound", { sessionId });
}

/** pi does not tell extensions that a session is disposed of; what they started would live on. */
async function shutDown({ clock = systemClock, report = ignore }: SessionHost, session: AgentSession): Promise<void> {
	await bestEffort("ending the extensions of an agent", report, async () => {
		const ending = session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
		if (!(await within(SHUTDOWN_MS, ending, clock))) throw new Error(`not done after ${SHUTDOWN_MS / 1_000} s`);
	});
}

function tellBus(
	{ events, report = ignore }: SessionHost,
	event: "session-created" | "bound" | "disposed",
	data: { sessionId: string; parentSessionId?: string },
): void {
	void bestEffort("telling others of an agent's session", report, () => events?.emit(`subagents:child:${event}`, data));
}

const ignore = (): void => undefined;
