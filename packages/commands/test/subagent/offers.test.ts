import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { expect, test } from "vitest";
import { heldText, interruptedIn, quitText, showOffers, stoppedText } from "../../src/input/offers.ts";
import { agent, puppets } from "../fixture.ts";

const ended = (by: "shutdown" | "user", fields: object = {}) =>
	agent({ status: "aborted", outcome: { status: "aborted", by }, completedAt: 2_000, ...fields });

test("only agents that ended with their pi, after the user's last words, are offered", () => {
	const offered = ended("shutdown", { id: "mine" });
	const others = [
		agent(),
		ended("user"),
		ended("shutdown", { parentAgentId: "mine" }),
		ended("shutdown", { completedAt: 500 }),
		ended("shutdown", { runner: "workflow" }),
	];
	expect(interruptedIn([offered, ...others], 1_000)).toEqual([offered]);
});

test("the line on the shell names what was stopped, and not too many", () => {
	const one = [agent({ id: "a1", type: "sc\x1b[2Jout" })];
	const line = "pi-subagents: quitting stopped 1 agent: scout a1.";
	expect(quitText(one, true)).toBe(`${line} pi --continue offers to resume it.`);
	expect(quitText(one, false)).toBe(line);
	const many = Array.from({ length: 7 }, (_, at) => agent({ id: `a${at}`, type: "scout" }));
	expect(quitText(many, true)).toContain(
		"stopped 7 agents: scout a0, scout a1, scout a2, scout a3, scout a4 and 2 more.",
	);
});

test("the line on the shell promises only what pi --continue offers", () => {
	const mine = agent({ id: "a1", type: "scout" });
	const nested = agent({ id: "a2", type: "digger", parentAgentId: "a1" });
	const workflow = agent({ id: "a3", type: "workflow", runner: "workflow" });
	expect(quitText([mine, nested, workflow], true)).toBe(
		"pi-subagents: quitting stopped 3 agents: scout a1, digger a2, workflow a3. pi --continue offers to resume 1 of them: scout a1.",
	);
	expect(quitText([workflow], true)).toBe("pi-subagents: quitting stopped 1 agent: workflow a3.");
});

test("the line above the editor names the key of the user's settings, and none where there is none", () => {
	expect(heldText(2, "f6")).toBe("2 results ready – they arrive with your next message (f6: now)");
	expect(heldText(1, "")).toBe("1 result ready – it arrives with your next message");
	expect(stoppedText([ended("shutdown", { id: "a1", type: "scout" })], "alt+r")).toBe(
		"1 agent was stopped when pi quit: scout a1 (alt+r: resume)",
	);
});

test.each([
	{ mode: "tui", lastStopAt: undefined, isMade: false },
	{ mode: "tui", lastStopAt: 999, isMade: false },
	{ mode: "tui", lastStopAt: 1_000, isMade: true },
	{ mode: "json", lastStopAt: 1_000, isMade: false },
])("past records are made only to offer one of them: $mode, $lastStopAt", async ({ mode, lastStopAt, isMade }) => {
	const { manager } = puppets();
	let wasMade = false;
	const events = () => {
		wasMade = true;
		return [];
	};
	manager.store.setArchive({ has: () => false, events });
	const said = { type: "message", message: { role: "user" }, timestamp: new Date(1_000).toISOString() };
	const session = { mode, sessionManager: { getBranch: () => [said] } } as unknown as ExtensionContext;
	const handlers = new Map<string, (event: object, ctx: ExtensionContext) => Promise<void>>();
	showOffers({ on: handlers.set.bind(handlers) } as unknown as ExtensionAPI, {
		manager,
		host: { session: () => session, warn: (text) => expect.unreachable(text) },
		states: { onState: () => undefined, isInterrupted: () => false, endInterruption: () => undefined },
		delivery: { ready: () => 0, journal: { lastStopAt: () => lastStopAt } },
		launcher: { settings: async () => ({ resultsKey: "" }) },
		resume: async () => undefined,
	});
	await handlers.get("session_start")?.({}, session);
	expect(wasMade).toBe(isMade);
});
