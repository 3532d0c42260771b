/** Dialogs of extensions inside agents, as the manager sees them. */
import { describe, expect, test } from "vitest";
import type { AskedDialog, Audience, Dialog, DialogAnswer } from "../../src/index.ts";
import { MAX_OPEN_DIALOGS } from "../../src/model/dialog.ts";
import { spec } from "../fixtures/events.ts";
import { codeOf, setUp } from "../fixtures/manager.ts";

const confirm: Dialog = { kind: "confirm", title: "Allow \u001b[2Jrm?", message: "It deletes files." };
const user: Audience = { sessionCanAnswer: () => true, userCanAnswer: () => true };
const never = new AbortController().signal;

interface Shown extends AskedDialog {
	signal: AbortSignal;
	answer: (answer: DialogAnswer | undefined) => void;
}

function world({ audience = user }: { audience?: Audience } = {}) {
	const shown: Shown[] = [];
	const showDialog = (asked: AskedDialog, signal: AbortSignal) =>
		new Promise<DialogAnswer | undefined>((answer) => shown.push({ ...asked, signal, answer }));
	return { ...setUp({ audience, showDialog }), shown };
}

describe("a dialog of an extension", () => {
	test("makes the agent wait for the user and lends its slot, and ends with the answer", async () => {
		const { manager, spawn, shown } = world();
		const agent = spawn();
		const answer = manager.askUser(agent.id, confirm, never);
		expect(agent.record()).toMatchObject({ status: "waiting", waitsFor: { who: "user" } });
		expect(agent.record()?.question).toBeUndefined(); // no text answers it
		expect(manager.slots()).toMatchObject({ running: 0, lent: 1 });
		expect(shown).toMatchObject([{ agentId: agent.id, dialog: confirm }]);
		shown[0]?.answer({ confirmed: true });
		expect(await answer).toEqual({ confirmed: true });
		expect(agent.record()).toMatchObject({ status: "running" });
		expect(manager.slots()).toMatchObject({ running: 1, lent: 0 });
	});

	test("is never answered by a model, an agent above, or a command", () => {
		const { manager, spawn } = world();
		const agent = spawn();
		void manager.askUser(agent.id, confirm, never);
		expect(manager.questions()).toEqual([]);
		expect(codeOf(() => manager.answer(agent.id, "yes", "session"))).toBe("wrong_state");
		expect(agent.record()).toMatchObject({ status: "waiting" });
	});

	test("stops the clocks of the agent", async () => {
		const { manager, clock, spawn, shown } = world();
		const agent = spawn({ ...spec, limits: { idleTimeoutMs: 1_000 } });
		const answer = manager.askUser(agent.id, confirm, never);
		clock.advance(60_000);
		expect(agent.record()).toMatchObject({ status: "waiting" });
		shown[0]?.answer({ confirmed: false });
		expect(await answer).toEqual({ confirmed: false });
		clock.advance(999);
		expect(agent.record()).toMatchObject({ status: "running" });
		clock.advance(1);
		expect(agent.record()).toMatchObject({ status: "aborted" });
	});

	test("is dismissed at once where no one can answer", async () => {
		const { manager, spawn, shown } = world({ audience: { ...user, userCanAnswer: () => false } });
		expect(await manager.askUser(spawn().id, confirm, never)).toBeUndefined();
		expect(await manager.askUser("nobody", confirm, never)).toBeUndefined();
		expect(shown).toEqual([]);
	});

	test("is withdrawn when its agent is stopped, and the stop waits for nothing", async () => {
		const { manager, spawn, shown } = world();
		const agent = spawn();
		const answer = manager.askUser(agent.id, confirm, never);
		manager.abort(agent.id, { by: "user" });
		expect(agent.record()).toMatchObject({ status: "aborted" });
		expect(shown[0]?.signal.aborted).toBe(true);
		expect(await answer).toBeUndefined();
		expect(agent.record()).toMatchObject({ status: "aborted" });
	});

	test("is withdrawn by its extension, and when its time is up", async () => {
		const { manager, clock, spawn, shown } = world();
		const agent = spawn();
		const withdrawn = new AbortController();
		const first = manager.askUser(agent.id, confirm, withdrawn.signal);
		withdrawn.abort();
		expect(await first).toBeUndefined();
		const second = manager.askUser(agent.id, { ...confirm, timeoutMs: 5_000 }, never);
		clock.advance(2_000);
		expect(shown[1]?.leftMs()).toBe(3_000); // it may have waited for others before it is shown
		clock.advance(3_000);
		expect(await second).toBeUndefined();
		expect(shown.map(({ signal }) => signal.aborted)).toEqual([true, true]);
		expect(agent.record()).toMatchObject({ status: "running" });
	});

	test("lets the agent wait on while another one, or a question of its own, is open", async () => {
		const { manager, spawn, shown } = world();
		const agent = spawn();
		const dialogs = [manager.askUser(agent.id, confirm, never), manager.askUser(agent.id, confirm, never)];
		const question = manager.ask(agent.id, { question: "Which?" });
		shown[0]?.answer({ confirmed: true });
		await dialogs[0];
		expect(agent.record()).toMatchObject({ status: "waiting", question: "Which?" });
		manager.answer(agent.id, "left", "user");
		await question;
		expect(agent.record()).toMatchObject({ status: "waiting", waitsFor: { who: "user" } });
		expect(agent.record()?.question).toBeUndefined();
		shown[1]?.answer({ confirmed: true });
		await dialogs[1];
		expect(agent.record()).toMatchObject({ status: "running" });
		expect(manager.slots()).toMatchObject({ running: 1, lent: 0 });
	});

	test("is declined with the agent's questions where its user cannot see it", async () => {
		const { manager, spawn } = world();
		const agent = spawn();
		const answer = manager.askUser(agent.id, confirm, never);
		manager.decline(agent.id, "absent");
		expect(await answer).toBeUndefined();
	});

	test("is one of a few: an extension that opens them without end gets no answer to the others", async () => {
		const { manager, spawn, shown } = world();
		const { id } = spawn();
		for (let count = 0; count < MAX_OPEN_DIALOGS; count++) void manager.askUser(id, confirm, never);
		expect(await manager.askUser(id, confirm, never)).toBeUndefined();
		expect(shown).toHaveLength(MAX_OPEN_DIALOGS);
	});

	test("is in the log by the first words of its title, without what could control a terminal", () => {
		const { manager, spawn } = world();
		const agent = spawn();
		const said: unknown[] = [];
		manager.store.follow(agent.id, ({ event }) => void said.push(event));
		void manager.askUser(agent.id, { ...confirm, title: `${confirm.title}${"x".repeat(10_000)}` }, never);
		expect(said).toMatchObject([
			{ type: "agent_asked", question: `Allow rm?${"x".repeat(391)}`, to: "user", isDialog: true },
		]);
	});
});
