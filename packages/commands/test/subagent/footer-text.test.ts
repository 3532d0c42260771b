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
		"agents: 2 running · 1 of 2 detached running · quitting stops 1",
	);
	expect(footerText({ active: [], detached: { total: 1, running: 0 } })).toBe("agents: 0 of 1 detached running");
});

test("a question for another agent is no business of the user's, and a long one is cut", () => {
	const elsewhere = { ...asking, waitsFor: { who: "agent" as const, name: "Plan" } };
	expect(footerText({ active: [elsewhere], detached: none })).toBe("agents: 1 running · quitting stops it");
	const long = footerText({ active: [{ ...asking, question: "x".repeat(90) }], detached: none });
	expect(long).toContain(`(${"x".repeat(29)}…)`);
});
