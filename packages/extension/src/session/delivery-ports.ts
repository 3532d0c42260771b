/** pi as the ports of delivery: its session file as the log, its messages as the way to the session, its events as the session's life. */
import { readFile } from "node:fs/promises";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { bestEffort } from "@pi-subagents/core";
import {
	type Messenger,
	NOTIFICATION,
	parseSessionLines,
	type SessionHooks,
	type SessionLog,
} from "@pi-subagents/delivery";
import type { Host } from "../host/host.ts";

export function createSessionLog(pi: ExtensionAPI, host: Pick<Host, "session" | "warn">): SessionLog {
	const manager = () => host.session()?.sessionManager;
	return {
		append(customType, data) {
			// pi holds an entry in memory even if it could not write it, so the entry has its id either way.
			void bestEffort("remembering an agent in the session", host.warn, () => pi.appendEntry(customType, data));
			return manager()?.getLeafId() ?? undefined;
		},
		entries: () => manager()?.getEntries() ?? [],
		branchIds: () => (manager()?.getBranch() ?? []).map(({ id }) => id),
		async reread() {
			const file = manager()?.getSessionFile();
			return file === undefined ? [] : parseSessionLines(await readFile(file, "utf8"));
		},
	};
}

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
