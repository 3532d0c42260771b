/**
 * When a message can be delivered to the session. pi says when it works and when a dialog is open. After the user has
 * interrupted a turn, no other may begin until they type something.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Clock, systemClock } from "@pi-subagents/core";
import type { SessionState, SessionStates } from "@pi-subagents/delivery";
import type { Host } from "../host/host.ts";
import type { Arrivals } from "./arrivals.ts";

/** A prompt that has not led to a turn by then was dropped on the way: by another extension, or for want of a model. */
const PREPARATION_MS = 30_000;
/** How long nothing is sent after a message got lost: twice as long each time, up to a minute. */
const REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;

export interface PiSessionStates extends SessionStates {
	/** The user is asked in several steps: also between two of them, nothing else may begin. */
	whileAsking<Result>(ask: () => Promise<Result>): Promise<Result>;
	/** The user broke off a turn and has said nothing since. */
	isInterrupted(): boolean;
	/** The user wants what was held back. */
	endInterruption(): void;
}

export function followSession(
	pi: ExtensionAPI,
	host: Host,
	arrivals: Pick<Arrivals, "onLost">,
	clock: Clock = systemClock,
): PiSessionStates {
	const listeners: ((state: SessionState) => void)[] = [];
	let dialogs = 0;
	let isInterrupted = false;
	let cancelPreparation: (() => void) | undefined;
	let cancelRest: (() => void) | undefined;
	const publish = (state: SessionState) => {
		for (const listener of listeners) listener(state);
	};
	const announce = () => {
		const session = host.session();
		if (!session) return;
		if (dialogs > 0) return publish("waiting_for_user");
		const isPreparing = cancelPreparation !== undefined || cancelRest !== undefined;
		if (isPreparing || !session.isIdle() || session.hasPendingMessages()) return publish("busy");
		publish(isInterrupted ? "waiting_for_user" : "idle");
	};
	const prepared = () => {
		cancelPreparation?.();
		cancelPreparation = undefined;
	};
	// From here on pi works on a prompt, though it does not say so yet: a turn of ours would take its place.
	const prepare = () => {
		prepared();
		cancelPreparation = clock.after(PREPARATION_MS, () => {
			prepared();
			announce();
		});
		announce();
		return undefined;
	};
	pi.on("input", ({ streamingBehavior }) => {
		prepared();
		return streamingBehavior === undefined ? prepare() : undefined;
	});
	pi.on("before_agent_start", prepare); // since pi 1.2 also for messages of extensions, which are no input
	pi.on("session_before_compact", () => {
		publish("busy");
		return undefined;
	});
	pi.on("session_compact", () => void setImmediate(announce));
	pi.on("session_compact_failed", () => void setImmediate(announce));
	const rested = () => {
		cancelRest?.();
		cancelRest = undefined;
	};
	// It is sent again when the session is idle. Without a rest, turns that fail would follow each other as long as the disk is full.
	arrivals.onLost((times) => {
		rested();
		cancelRest = clock.after(Math.min(REST_MS * 2 ** (times - 1), LONGEST_REST_MS), () => {
			rested();
			announce();
		});
	});
	pi.on("session_shutdown", () => {
		prepared();
		rested();
	});
	pi.on("agent_start", () => {
		prepared();
		isInterrupted = false;
		publish(dialogs > 0 ? "waiting_for_user" : "busy");
	});
	pi.on("agent_end", (_event, ctx) => {
		isInterrupted = isBrokenOff(ctx);
	});
	pi.on("agent_settled", (event) => {
		const { aborted } = event as { aborted?: boolean }; // since pi 1.1; it also knows of a stop after the last turn
		isInterrupted = aborted ?? isInterrupted;
		setImmediate(announce); // pi still counts as busy while it says so
	});
	pi.on("ui_prompt_start", () => {
		dialogs++;
		announce();
	});
	pi.on("ui_prompt_end", () => {
		dialogs = Math.max(0, dialogs - 1);
		announce();
	});
	return {
		onState: (listener) => void listeners.push(listener),
		announce,
		isInterrupted: () => isInterrupted,
		endInterruption() {
			isInterrupted = false;
			announce();
		},
		async whileAsking(ask) {
			dialogs++;
			announce();
			try {
				return await ask();
			} finally {
				dialogs--;
				announce();
			}
		},
	};
}

/** Whether the turn that just ends was broken off. Its last message does not always say so: between two requests it is an error. */
export function isBrokenOff({ signal }: Pick<ExtensionContext, "signal">): boolean {
	return signal?.aborted ?? false;
}

/**
 * The same, but each handler is called once for each session's beginning. When pi's RPC mode replaces a session, it emits
 * `session_start` twice for the new one. What starts with a session must not start twice: nothing would stop the first
 * timer.
 */
export function dedupeSessionStart(pi: ExtensionAPI): ExtensionAPI {
	let ended = 0;
	pi.on("session_shutdown", () => void ended++);
	const on = (event: string, handler: (...args: unknown[]) => unknown): void => {
		let heardAfter = -1;
		const heardOnce = (...args: unknown[]) => {
			if (heardAfter === ended) return undefined;
			heardAfter = ended;
			return handler(...args);
		};
		(pi.on as typeof on)(event, event === "session_start" ? heardOnce : handler);
	};
	return new Proxy(pi, { get: (target, name) => (name === "on" ? on : Reflect.get(target, name)) });
}
