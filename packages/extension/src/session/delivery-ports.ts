/** The ports of delivery over pi: its session file, its messages and its session events. */
import { closeSync, existsSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { messageOf } from "@pi-subagents/core";
import { codeOf } from "@pi-subagents/core/files";
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
	/** A write has failed, perhaps in the middle of a line. */
	let mayBeTorn = false;
	return {
		isFull: () => isFull,
		append(customType, data) {
			const before = leafId();
			try {
				if (mayBeTorn) endLine(manager()?.getSessionFile());
				pi.appendEntry(customType, data);
				isFull = false;
				mayBeTorn = false;
			} catch (error) {
				const isHeld = leafId() !== before; // pi 0.x holds an entry that it could not write; 1.x does not
				mayBeTorn = codeOf(error) !== undefined;
				isFull = mayBeTorn && !isHeld;
				if (!isHeld) throw error;
				host.warn(`recording an agent in the session: ${messageOf(error)}`);
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

/** If a full disk took half a line, pi would append the next entry to it and could read neither. */
function endLine(file: string | undefined): void {
	if (file === undefined || !existsSync(file)) return;
	const descriptor = openSync(file, "a+");
	try {
		const last = Buffer.from("\n");
		readSync(descriptor, last, { position: Math.max(0, fstatSync(descriptor).size - 1) });
		if (last.toString() !== "\n") writeSync(descriptor, "\n");
	} finally {
		closeSync(descriptor);
	}
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
