/** pi's messages as the way in which results reach the session, and pi's events as the life of that session. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type Messenger, NOTIFICATION, type SessionHooks } from "@pi-subagents/delivery";
import type { Host } from "../host/host.ts";

export function createMessenger(pi: ExtensionAPI, host: Pick<Host, "session">): Messenger {
	return {
		canSend: () => host.session()?.isIdle() ?? false,
		send(notification, { startsTurn }) {
			// Another turn may have begun meanwhile; then the message follows it.
			pi.sendMessage(notification, startsTurn ? { triggerTurn: true, deliverAs: "followUp" } : { triggerTurn: false });
			return !startsTurn; // an idle pi has it in its file by now
		},
		onArrived(listener) {
			pi.on("message_end", ({ message }) => {
				if (message.role === "custom" && message.customType === NOTIFICATION) listener(message.details);
			});
		},
	};
}

/** Tells delivery what happens to pi's session. */
export function followSessionLife(pi: ExtensionAPI, delivery: SessionHooks): void {
	pi.on("session_start", () => delivery.sessionStarted());
	pi.on("turn_start", () => delivery.turnStarted());
	pi.on("session_tree", () => delivery.branchChanged());
	pi.on("session_shutdown", () => delivery.sessionEnded());
}
