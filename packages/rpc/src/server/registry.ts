/**
 * The agents as an object for code in the same process: `spawn` returns the id before anything is launched, and a record
 * is a live view, which its readers keep. Reading one never throws, in whatever state the agent is.
 */
import type { SettledAgent } from "../lifecycle.ts";
import type { AgentInfo } from "../protocol.ts";
import type { V2Status } from "../status.ts";
import { messageOf } from "./error-message.ts";
import { type CheckedSpawn, readNow } from "./request.ts";

export interface ManagerRegistry {
	/** Returns the id at once. A launch that fails becomes a record with status `error` and the reason. The first two parameters are ignored. */
	spawn(pi: unknown, ctx: unknown, type: string, prompt: string, options?: object): string;
	/** The record of an agent, which follows it; `undefined` if there is no such agent. */
	getRecord(id: string): RegistryRecord | undefined;
	hasRunning(): boolean;
	/** Resolves when no agent is active; it does not matter what launched it. Never rejects. */
	waitForAll(): Promise<void>;
}

/** What is known of an agent, in the words of version 2. */
export type RegistryState = Omit<AgentInfo, "status" | "startedAt"> &
	Partial<Omit<SettledAgent, "status">> & {
		status: V2Status;
		/** When it started; until then, when it was accepted. */
		startedAt: number;
		lifetimeUsage: LifetimeUsage;
		/** As the caller of `spawn` gave it. */
		invocation?: Readonly<Record<string, unknown>>;
	};

export interface RegistryRecord extends Readonly<RegistryState> {
	/** Resolves with the agent's text when its current run has settled. Never rejects. */
	readonly promise: Promise<string>;
	/** While the agent runs inside pi; `undefined` before that and afterwards, and for agents in their own processes. */
	readonly session: RegistrySession | undefined;
}

/** The tokens and the cost in US dollars of all its runs. */
export interface LifetimeUsage {
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	cost: number;
}

/** The conversation of an agent, for observers. */
export interface RegistrySession {
	readonly sessionId: string;
	/** pi's own messages. */
	readonly messages: readonly unknown[];
	/** Calls the listener with pi's own events. */
	subscribe(listener: (event: unknown) => unknown): () => void;
	steer(message: string): Promise<void>;
	abort(): Promise<void>;
}

/** The agents behind a registry. Nothing here may throw, except where it says so. */
export interface RegistryPort {
	newId(): string;
	/** Milliseconds since the epoch. */
	now(): number;
	/** Launches an agent under this id. Rejects with the reason for the caller. */
	launch(id: string, request: CheckedSpawn): Promise<unknown>;
	read(id: string): RegistryState | undefined;
	session(id: string): RegistrySession | undefined;
	/** Resolves with the whole text when the current run has settled. May reject. */
	wait(id: string): Promise<string>;
	/** The agents that can be waited for. */
	active(): readonly string[];
	/** An agent was not launched; its id is known to the caller of `spawn`. */
	refused(agent: SettledAgent): void;
}

export interface RegistryServer {
	registry: ManagerRegistry;
	/** Resolves when it is known whether the agent was launched; at once for any other id. */
	decided(id: string): Promise<void>;
}

interface Launch {
	state: RegistryState;
	isDecided: boolean;
	decided: Promise<void>;
}

/** How many refused launches can be read. */
const MAX_REFUSED = 1_000;

/**
 * A registry over some agents.
 *
 * @example
 * ```ts
 * const { registry } = createRegistry(port);
 * const id = registry.spawn(pi, ctx, "Explore", "Where is the parser?");
 * const text = await registry.getRecord(id)?.promise;
 * ```
 */
export function createRegistry(port: RegistryPort): RegistryServer {
	/** Launches that are being decided, and refused ones. */
	const launches = new Map<string, Launch>();
	const views = new Map<string, RegistryRecord>();
	const read = (id: string) => port.read(id) ?? launches.get(id)?.state;
	const decided = async (id: string) => launches.get(id)?.decided;
	const pending = () => [...launches.values()].filter(({ isDecided }) => !isDecided);
	const refuse = (launch: Launch, error: string) => {
		const completedAt = port.now();
		const { state } = launch;
		const end = { status: "error", error, durationMs: 0, outcome: { status: "failed", error } } as const;
		launch.state = { ...state, ...end, completedAt };
		for (const [id, { isDecided }] of launches) {
			if (launches.size <= MAX_REFUSED) break;
			if (isDecided) launches.delete(id);
		}
		const { id, type, description, depth } = state;
		port.refused({ id, type, description, depth, toolUses: 0, ...end });
	};
	return {
		decided,
		registry: {
			spawn(_pi, _ctx, type, prompt, options) {
				const id = port.newId();
				const state = acceptedState(id, type, options, port.now());
				const launch: Launch = { state, isDecided: false, decided: Promise.resolve() };
				launches.set(id, launch);
				const request = readNow("spawn", { type, prompt, options });
				const decide = async () => {
					try {
						await undefined; // the caller must know the id before any event names it
						await port.launch(id, request());
						launches.delete(id);
					} catch (error) {
						refuse(launch, messageOf(error));
					}
					launch.isDecided = true;
				};
				launch.decided = decide();
				return id;
			},
			getRecord(id) {
				if (typeof id !== "string" || !read(id)) return undefined;
				const wait = async () => {
					await decided(id);
					return port.wait(id).catch(() => read(id)?.result ?? "");
				};
				const view = views.get(id) ?? liveView({ id, read, wait, session: port.session });
				views.set(id, view);
				return view;
			},
			hasRunning: () => pending().length > 0 || port.active().length > 0,
			async waitForAll() {
				const lost = new Set<string>(); // not waited for again, or this would never end
				const wait = (id: string) => port.wait(id).catch(() => lost.add(id));
				for (;;) {
					const ids = port.active().filter((id) => !lost.has(id));
					const undecided = pending();
					if (ids.length + undecided.length === 0) return;
					await Promise.all([...ids.map(wait), ...undecided.map((launch) => launch.decided)]);
				}
			},
		},
	};
}

interface ViewSource {
	id: string;
	read(id: string): RegistryState | undefined;
	wait(): Promise<string>;
	session(id: string): RegistrySession | undefined;
}

/** Own enumerable getters, so that every way of reading a plain object works. */
function liveView({ id, read, wait, session }: ViewSource): RegistryRecord {
	let waiting: Promise<string> | undefined;
	let last = read(id);
	const state = (): Partial<RegistryState> => {
		last = read(id) ?? last; // a session that was closed leaves what was known
		return last ?? {};
	};
	const promise = () => {
		const { status = "error", result = "" } = state();
		if (!isActive(status)) return Promise.resolve(result);
		waiting ??= wait().finally(() => {
			waiting = undefined; // a resumed agent has another run to wait for
		});
		return waiting;
	};
	const view = {};
	const field = (key: string, get: () => unknown) => Object.defineProperty(view, key, { enumerable: true, get });
	for (const key of FIELDS) field(key, () => state()[key]);
	field("promise", promise);
	field("session", () => session(id));
	return view as RegistryRecord;
}

const FIELDS = Object.keys({
	id: true,
	name: true,
	type: true,
	description: true,
	status: true,
	result: true,
	error: true,
	startedAt: true,
	completedAt: true,
	queuedAt: true,
	durationMs: true,
	depth: true,
	parentAgentId: true,
	isBackground: true,
	model: true,
	activity: true,
	question: true,
	turns: true,
	toolUses: true,
	tokens: true,
	usage: true,
	lifetimeUsage: true,
	structured: true,
	outcome: true,
	invocation: true,
} satisfies Record<keyof RegistryState, true>) as (keyof RegistryState)[];

function isActive(status: V2Status): boolean {
	return status === "queued" || status === "running";
}

/** What is shown of a launch until it is decided. Its parameters are unchecked. */
function acceptedState(id: string, type: unknown, options: unknown, at: number): RegistryState {
	return {
		id,
		type: typeof type === "string" ? type : "",
		description: descriptionIn(options),
		status: "queued",
		depth: 1,
		isBackground: false,
		turns: 0,
		toolUses: 0,
		tokens: { input: 0, output: 0, total: 0 },
		queuedAt: at,
		startedAt: at,
		lifetimeUsage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 },
	};
}

function descriptionIn(options: unknown): string {
	try {
		const { description } = Object(options) as { description?: unknown };
		return typeof description === "string" ? description : "";
	} catch {
		return ""; // a getter threw
	}
}
