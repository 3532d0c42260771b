/**
 * When the session can be told something. pi says when it works and when a dialog is open; that the user broke off a
 * turn has to be seen from its last message, and until the user says something else no turn may begin behind their back.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { SessionState } from "@pi-subagents/core";
import type { Host } from "../host.ts";

export interface SessionStates {
	/** Hears of every change, and sometimes of the same state again. */
	onState(listener: (state: SessionState) => void): void;
	/** Says the state once more. */
	say(): void;
}

export function followSession(pi: ExtensionAPI, host: Host): SessionStates {
	const listeners: ((state: SessionState) => void)[] = [];
	let dialogs = 0;
	let isInterrupted = false;
	const tell = (state: SessionState) => {
		for (const listener of listeners) listener(state);
	};
	const say = () => {
		const session = host.session();
		if (!session) return;
		if (dialogs > 0) return tell("waiting_for_user");
		if (!session.isIdle() || session.hasPendingMessages()) return tell("busy");
		tell(isInterrupted ? "waiting_for_user" : "idle");
	};
	pi.on("agent_start", () => {
		isInterrupted = false;
		tell(dialogs > 0 ? "waiting_for_user" : "busy");
	});
	pi.on("agent_end", ({ messages }) => {
		const last = messages.findLast((message) => message.role === "assistant");
		isInterrupted = last?.role === "assistant" && last.stopReason === "aborted";
	});
	pi.on("agent_settled", () => void setImmediate(say)); // pi still counts as busy while it says so
	pi.on("ui_prompt_start", () => {
		dialogs++;
		say();
	});
	pi.on("ui_prompt_end", () => {
		dialogs = Math.max(0, dialogs - 1);
		say();
	});
	return { onState: (listener) => void listeners.push(listener), say };
}
