import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { expect, test } from "vitest";
import { createHost, reopenableDir } from "../../src/host/host.ts";

/** As much of pi as tells of sessions and shows notices. */
function pi() {
	const handlers = new Map<string, (event: object, ctx: object) => void>();
	const shown: string[] = [];
	let isStale = false;
	const live = <Value>(value: Value): Value => {
		if (isStale) throw new Error("This extension ctx is stale");
		return value;
	};
	const ctx = {
		get cwd() {
			return live(tmpdir());
		},
		get mode() {
			return live("tui");
		},
		get hasUI() {
			return live(true);
		},
		get ui() {
			return live({ notify: (text: string) => shown.push(text) });
		},
		get sessionManager() {
			return live({ getSessionId: () => "s1" });
		},
	};
	const api = { on: (type: string, handler: () => void) => handlers.set(type, handler), events: {} };
	const host = createHost(api as unknown as ExtensionAPI);
	const dispose = () => {
		isStale = true;
	};
	return { host, shown, dispose, say: (type: string) => handlers.get(type)?.({ type }, ctx) };
}

test("what could not be saved of an agent that a reload ended is reported after it", () => {
	const before = pi();
	before.say("session_start");
	before.host.warnLater("at once");
	expect(before.shown).toEqual(["at once"]);
	before.say("session_shutdown");
	before.host.warnLater("Nothing of run a1 is kept: the disk is full.");
	before.host.warn("nobody hears this");

	const after = pi();
	after.say("session_start");
	expect(after.shown).toEqual(["Nothing of run a1 is kept: the disk is full."]);
	const next = pi();
	next.say("session_start");
	expect([before.shown, next.shown]).toEqual([["at once"], []]);
});

test("a session that was disposed of without a word counts as closed", () => {
	const { host, shown, say, dispose } = pi();
	say("session_start");
	expect(host.session()?.cwd).toBe(tmpdir());
	dispose();
	expect(host.session()).toBeUndefined();
	expect(host.parentSessionId?.()).toBeUndefined();
	host.warn("nobody hears this");
	host.notify("nor this");
	expect(shown).toEqual([]);
});

test.each([
	{ file: "s1.jsonl", id: "s1", dir: join("agent", "state", "subagents", "open", "s1") },
	{ file: undefined, id: "s1", dir: undefined },
	{ file: "s1.jsonl", id: "../../s1", dir: undefined },
])("only a session that can be opened again, under a plain name, has a directory: %j", ({ file, id, dir }) => {
	const sessionManager = { getSessionId: () => id, getSessionFile: () => file };
	expect(reopenableDir("agent", "open", { sessionManager } as ExtensionContext)).toBe(dir);
});
