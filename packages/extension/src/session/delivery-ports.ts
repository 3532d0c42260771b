/** pi as the ports of delivery: its session file as the log, its messages as the way to the session, its events as the session's life. */
import { readFile } from "node:fs/promises";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { messageOf } from "@pi-subagents/core";
import {
	type Messenger,
	NOTIFICATION,
	parseSessionLines,
	type SessionHooks,
	type SessionLog,
} from "@pi-subagents/delivery";
import type { Host } from "../host/host.ts";
import type { Arrivals } from "./arrivals.ts";

interface PiSessionLog extends SessionLog {
	/** pi could not write the last entry. It would lose a message, too. */
	isFull(): boolean;
}

export function createSessionLog(pi: ExtensionAPI, host: Pick<Host, "session" | "warn">): PiSessionLog {
	/** Also of the session that is just being closed. */
	let known: ExtensionContext["sessionManager"] | undefined;
	const manager = () => {
		known = host.session()?.sessionManager ?? known;
		return known;
	};
	const leafId = () => manager()?.getLeafId() ?? undefined;
	let isFull = false;
	return {
		isFull: () => isFull,
		append(customType, data) {
			const before = leafId();
			try {
				pi.appendEntry(customType, data);
				isFull = false;
			} catch (error) {
				isFull = leafId() === before;
				if (isFull) throw error; // pi 1.x holds no entry that it could not write; 0.x does
				host.warn(`remembering an agent in the session: ${messageOf(error)}`);
			}
			return leafId();
		},
		entries: () => manager()?.getEntries() ?? [],
		branchIds: () => (manager()?.getBranch() ?? []).map(({ id }) => id),
		async reread() {
			const file = manager()?.getSessionFile();
			return file === undefined ? [] : parseSessionLines(await readFile(file, "utf8"));
		},
	};
}

export function createMessenger(
	pi: ExtensionAPI,
	{ host, log, arrivals }: { host: Pick<Host, "session">; log: Pick<PiSessionLog, "isFull">; arrivals: Arrivals },
): Messenger {
	return {
		canSend: () => (host.session()?.isIdle() ?? false) && !log.isFull(),
		send(notification, { startsTurn }) {
			// Another turn may have begun meanwhile; then the message follows it.
			if (startsTurn) pi.sendMessage(notification, { triggerTurn: true, deliverAs: "followUp" });
			else arrivals.sendQuietly(notification);
			return !startsTurn; // an idle pi has it in its file by now
		},
		onArrived: (listener) => arrivals.onArrived(NOTIFICATION, listener),
	};
}

/** Tells delivery what happens to pi's session. */
export function followSessionLife(pi: ExtensionAPI, delivery: SessionHooks): void {
	pi.on("session_start", () => delivery.sessionStarted());
	pi.on("turn_start", () => delivery.turnStarted());
	pi.on("session_tree", () => delivery.branchChanged());
	pi.on("session_shutdown", () => delivery.sessionEnded());
}
