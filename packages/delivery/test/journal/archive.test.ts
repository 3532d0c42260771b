/** Which agents of a session are past, by its entries alone. */
import { expect, test } from "vitest";
import { separateArchive } from "../../src/journal/archive.ts";
import { NOTIFICATION } from "../../src/session/notification.ts";
import type { SessionEntry } from "../../src/session/session-entry.ts";

const ours = (id: string, data: object, customType = "subagents:record"): SessionEntry => ({
	...{ id, type: "custom", customType, data },
});
const launched = (id: string, agentId: string, more: object = {}) =>
	ours(id, { type: "launched", runId: `${agentId}-1`, agentId, isBackground: false, ...more });
const settled = (id: string, agentId: string) => ours(id, { type: "settled", runId: `${agentId}-1` });
const toldOf = (id: string, ...runIds: string[]): SessionEntry => ({
	...{ id, type: "custom_message", customType: NOTIFICATION, details: { runIds } },
});

const pastOf = (...entries: SessionEntry[]) => [...separateArchive(entries).archive().agentIds];

test("an agent is past when its run has settled, and was told of if it was to be", () => {
	expect(pastOf(launched("e1", "a"))).toEqual([]);
	expect(pastOf(launched("e1", "a"), settled("e2", "a"))).toEqual(["a"]);
	const inBackground = [launched("e1", "b", { isBackground: true }), settled("e2", "b")];
	expect(pastOf(...inBackground)).toEqual([]);
	expect(pastOf(...inBackground, toldOf("e3", "b-1"))).toEqual(["b"]);
	expect(pastOf(...inBackground, ours("e3", { type: "closed", runId: "b-1" }))).toEqual(["b"]);
});

test("an agent that was waited for and then left is to be told of", () => {
	const entries = [launched("e1", "a"), launched("e2", "a", { isBackground: true }), settled("e3", "a")];
	expect(pastOf(...entries)).toEqual([]);
	expect(pastOf(...entries, toldOf("e4", "a-1"))).toEqual(["a"]);
});

test("one run that goes on keeps all runs of its agent from being past", () => {
	const second = ours("e3", { type: "launched", runId: "a-2", agentId: "a", isBackground: false });
	const { archive, current } = separateArchive([launched("e1", "a"), settled("e2", "a"), second]);
	expect([archive().agentIds.size, current.length]).toEqual([0, 3]);
});

test("past agents beside others: what is left is everything else, in its order", () => {
	const others = [launched("e2", "b"), toldOf("e4", "c-1")];
	const entries = [launched("e1", "a"), others[0], settled("e3", "a"), others[1]].flatMap((entry) => entry ?? []);
	const { archive, current } = separateArchive(entries);
	expect(archive().entries).toEqual(entries.filter((entry) => !others.includes(entry)));
	expect(current).toEqual(others);
});

test("what outlives sessions, is none of ours or makes no sense is left to a closer look", () => {
	const entries = [
		ours("e1", { type: "launched", runId: "p-1", agentId: "p", isBackground: false }, "pi-subagents:bg-run"),
		ours("e2", { type: "settled", runId: "p-1" }, "pi-subagents:bg-update"),
		launched("e3", "q", { isBackground: "no" }),
		settled("e4", "q"),
		settled("e5", "never launched"),
		ours("e6", { type: "launched", runId: 7, agentId: {} }),
		{ id: "e7", type: "custom", customType: "theirs", data: { type: "launched", runId: "x-1", agentId: "x" } },
		{ id: "e8", type: "custom", customType: "subagents:record", data: null },
		{ id: "e9", type: "message" },
	];
	const { archive, current } = separateArchive(entries);
	expect([archive().agentIds.size, archive().runIds.size, archive().entries.length]).toEqual([0, 0, 0]);
	expect(current).toEqual(entries);
});

test("the last time that a run ended with its process is known without a closer look", () => {
	const stopped = (id: string, completedAt: unknown, by = "shutdown") =>
		ours(id, { type: "settled", runId: "a-1", status: "aborted", by, completedAt });
	expect(separateArchive([launched("e1", "a"), settled("e2", "a")]).lastStopAt).toBeUndefined();
	const entries = [launched("e1", "a"), stopped("e2", 300), stopped("e3", 200), stopped("e4", 400, "user")];
	expect(separateArchive([...entries, stopped("e5", "late")]).lastStopAt).toBe(300);
});
