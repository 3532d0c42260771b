import { expect, test } from "vitest";
import { footerText } from "../../src/text/index.ts";
import { agent } from "../fixture.ts";

const none = { total: 0, running: 0 };
const asking = agent({ id: "a2", status: "waiting", question: "Postgres or\nSQLite?", waitsFor: { who: "user" } });
const detached = agent({ id: "a3", outlives: true });

test("the footer counts, names the question, and says what quitting stops", () => {
	expect(footerText({ active: [], detached: none })).toBeUndefined();
	expect(footerText({ active: [agent()], detached: none })).toBe("agents: 1 running · quitting stops it");
	expect(footerText({ active: [agent(), asking], detached: none })).toBe(
		"agents: 1 running, 1 waiting for you (Postgres or SQLite?) · quitting stops them",
	);
	expect(footerText({ active: [agent(), detached], detached: { total: 2, running: 1 } })).toBe(
		"agents: 1 running · 1 of 2 detached running · quitting stops 1",
	);
	expect(footerText({ active: [], detached: { total: 1, running: 0 } })).toBe("agents: 0 of 1 detached running");
});

test("a question for another agent is no business of the user's, and a long one is cut", () => {
	const elsewhere = { ...asking, waitsFor: { who: "agent" as const, name: "Plan" } };
	expect(footerText({ active: [elsewhere], detached: none })).toBe("agents: 1 running · quitting stops it");
	const long = footerText({ active: [{ ...asking, question: "x".repeat(90) }], detached: none });
	expect(long).toContain(`(${"x".repeat(29)}…)`);
});

test("a detached agent is counted once, with its own state and question", () => {
	const { question: _, ...inDialog } = { ...asking, outlives: true };
	const one = { total: 1, running: 1 };
	expect(footerText({ active: [inDialog], detached: one })).toBe("agents: 1 of 1 detached waiting for you");
	expect(
		footerText({ active: [agent(), detached, { ...asking, outlives: true }], detached: { total: 4, running: 2 } }),
	).toBe("agents: 1 running · 1 of 4 detached running, 1 waiting for you (Postgres or SQLite?) · quitting stops 1");
});

test("on a narrow screen what quitting stops is still there, and who waits for the user", () => {
	const facts = { active: [agent(), asking, detached], detached: { total: 2, running: 1 } };
	const at = (columns: number) => footerText({ ...facts, columns });
	expect([120, 81, 74, 50, 30, 12].map(at)).toEqual([
		"agents: 1 running, 1 waiting for you (Postgres or SQLite?) · 1 of 2 detached running · quitting stops 2",
		"agents: 1 running, 1 waiting for you · 1 of 2 detached running · quitting stops 2",
		"2 agents, 1 waiting for you · 1 of 2 detached running · quitting stops 2",
		"2 agents, 1 waiting for you · quitting stops 2",
		"2 agents · quitting stops 2",
		"2 agents…",
	]);
	expect(footerText({ active: [agent(), asking], detached: none, columns: 50 })).toBe(
		"2 agents, 1 waiting for you · quitting stops them",
	);
	expect(footerText({ active: [], detached: { total: 12, running: 0 }, columns: 20 })).toBe("0 of 12 detached ru…");
});
