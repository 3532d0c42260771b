/**
 * A session log that keeps what could not be written, and writes it as soon as that is possible. pi 1.x drops an entry
 * if the disk has no room for it; without this, the session would not know that a run was launched, or has settled.
 */
import type { Clock, Report } from "@pi-subagents/core";
import { codeOf, messageOf } from "@pi-subagents/core/internal/base";
import type { SessionLog } from "./ports.ts";
import type { SessionEntry } from "./session-entry.ts";

export interface UnwrittenDeps {
	log: SessionLog;
	sessionId: () => string | undefined;
	warn: Report;
	clock: Clock;
}

/** Its `append` does not throw. An entry that waits has an id, too, which stays valid when it is written. */
export interface KeepingLog extends SessionLog {
	/** The session ends. What still waits is written when this process opens the session again, as after a reload. */
	close(): void;
}

interface Unwritten {
	id: string;
	customType: string;
	data: unknown;
}

/** How often to try again while nothing else is written. */
const AGAIN_MS = 5_000;

export function keepUnwritten({ log, sessionId, warn, clock }: UnwrittenDeps): KeepingLog {
	/** In the order of writing. */
	const waiting: Unwritten[] = [];
	/** The log's own id of an entry that had to wait, by the id that it had meanwhile. */
	const writtenIds = new Map<string, string>();
	let session: string | undefined;
	let isOpen = true;
	let cancelRetry = (): void => undefined;

	/** Undefined: it has to wait. What can never succeed is reported and given up. */
	const write = (customType: string, data: unknown): { id: string | undefined } | undefined => {
		try {
			return { id: log.append(customType, data) };
		} catch (error) {
			warn(`recording an agent in the session: ${messageOf(error)}`);
			return isOfDisk(error) ? undefined : { id: undefined };
		}
	};
	/** Writes what waits. Returns whether the log holds everything now. */
	const flush = (): boolean => {
		for (let next = waiting[0]; next; next = waiting[0]) {
			const done = write(next.customType, next.data);
			if (!done) break;
			waiting.shift();
			if (done.id !== undefined) writtenIds.set(next.id, done.id);
		}
		tryAgainLater();
		return waiting.length === 0;
	};
	const tryAgainLater = (): void => {
		cancelRetry();
		if (waiting.length > 0 && isOpen) cancelRetry = clock.after(AGAIN_MS, flush);
	};
	const leave = (): void => {
		if (session === undefined || waiting.length === 0) return;
		leftEntries().set(session, [...(leftEntries().get(session) ?? []), ...waiting.splice(0)]);
	};
	return {
		append(customType, data) {
			const done = flush() ? write(customType, data) : undefined;
			if (done) return done.id;
			const id = `unwritten-${crypto.randomUUID()}`;
			waiting.push({ id, customType, data });
			tryAgainLater();
			if (!isOpen) leave();
			return id;
		},
		entries() {
			const opened = sessionId();
			if (opened !== undefined && opened !== session) {
				session = opened;
				waiting.push(...(leftEntries().get(opened) ?? []));
				leftEntries().delete(opened);
			}
			if (flush()) return log.entries();
			return [...log.entries(), ...waiting.map((entry): SessionEntry => ({ type: "custom", ...entry }))];
		},
		branchIds() {
			if (waiting.length === 0 && writtenIds.size === 0) return log.branchIds();
			const ids = new Set(log.branchIds());
			for (const [id, ownId] of writtenIds) if (ids.has(ownId)) ids.add(id);
			for (const { id } of waiting) ids.add(id); // it is written to the branch that is current by then
			return ids;
		},
		reread: () => log.reread(),
		close() {
			isOpen = false;
			flush();
			leave();
		},
	};
}

/** Whether it may succeed later. Errors of Node itself have codes with an underscore. */
function isOfDisk(error: unknown): boolean {
	return /^E[A-Z0-9]+$/.test(codeOf(error) ?? "");
}

/** By session. Global, because a reload loads this module again. */
function leftEntries(): Map<string, Unwritten[]> {
	const shared = globalThis as { [LEFT]?: Map<string, Unwritten[]> };
	shared[LEFT] ??= new Map();
	return shared[LEFT];
}

const LEFT = Symbol.for("pi-subagents:unwritten-entries");
