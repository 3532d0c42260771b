/** The ports of delivery over pi: its session file, its messages and its session events. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { codeOf, messageOf } from "@pi-subagents/core/internal/base";
import { endHalfLine, readPlain } from "@pi-subagents/core/internal/files";
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
	/** pi could not write the last entry. It would lose a message, too, at the latest when its process ends. */
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
	/** Why the last write failed, perhaps in the middle of a line. */
	let refused: unknown;
	/** pi has what it could not write in its memory: each attempt would add another. */
	let isHeld = false;
	return {
		isFull: () => refused !== undefined,
		append(customType, data) {
			const before = leafId();
			const file = manager()?.getSessionFile();
			if (refused !== undefined && isHeld && !hasRoom(file)) throw refused;
			try {
				if (refused !== undefined) endHalfLineIn(file);
				pi.appendEntry(customType, data);
				refused = undefined;
			} catch (error) {
				refused = codeOf(error) === undefined ? undefined : error;
				isHeld = leafId() !== before; // pi 0.x holds an entry that it could not write; 1.x does not
				if (!isHeld || refused !== undefined) throw error; // what is only in memory is lost with the process
				host.warn(`recording an agent in the session: ${messageOf(error)}`);
			}
			return leafId();
		},
		entries: () => manager()?.getEntries() ?? [],
		branchIds: () => branchIdsOf(manager()),
		async reread() {
			const file = manager()?.getSessionFile();
			const bytes = file === undefined ? undefined : await readPlain(file, MAX_SESSION_BYTES, SESSION);
			return bytes === undefined ? [] : parseSessionLines(bytes.toString("utf8"));
		},
	};
}

/**
 * The current branch. If pi 0.x lost entries that a full disk did not take, those that follow have a parent that does not
 * exist, and pi's branch begins there. What the file has before it came before it.
 */
function branchIdsOf(manager: ExtensionContext["sessionManager"] | undefined): Set<string> {
	const ids = new Set<string>();
	for (let branch = manager?.getBranch() ?? []; branch.length > 0; ) {
		for (const { id } of branch) ids.add(id);
		const [first] = branch;
		if (!manager || !first || typeof first.parentId !== "string") break;
		const entries = manager.getEntries();
		const before = entries[entries.findIndex(({ id }) => id === first.id) - 1];
		branch = before && !ids.has(before.id) ? manager.getBranch(before.id) : [];
	}
	return ids;
}

/** More than an entry of ours takes. */
const ROOM_BYTES = 256 * 1024;

/** True if that cannot be told: then only an attempt can tell. */
function hasRoom(file: string | undefined): boolean {
	try {
		const { blocks, bavail, bsize } = statfsSync(file === undefined ? "" : dirname(file));
		return blocks === 0 || bavail * bsize >= ROOM_BYTES; // a file system that reports no blocks does not count them
	} catch (error) {
		if (codeOf(error) !== undefined) return true;
		throw error;
	}
}

/** A text cannot be much longer; pi reads it whole, too. */
const MAX_SESSION_BYTES = 500 * 1024 * 1024;
/** The user may have named a link with `--session`. */
const SESSION = { followsLinks: true } as const;

/** Otherwise pi would append the next entry to what a full disk left of the last one, and could read neither. */
function endHalfLineIn(file: string | undefined): void {
	if (file !== undefined) endHalfLine(file, SESSION);
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
