/** Dialogs of extensions inside agents, as the user sees them. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Dialog, Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock, sampleSpec } from "@pi-subagents/core/testing";
import { expect, test } from "vitest";
import { createDialogs } from "../../src/questions/dialogs.ts";
import { createExtensionDialogs } from "../../src/questions/extension-dialogs.ts";
import { quietScreen } from "../fixture.ts";

const spec: RunSpec = { ...sampleSpec, description: "look", task: "Look.", subagents: "*" };
const never = new AbortController().signal;

interface Shown {
	kind: string;
	title: string;
	more?: unknown;
	options?: { timeout?: number };
	answer: (value: unknown) => void;
}

/** A manager whose agents' extensions reach a screen that the test looks at. */
function screen(mode: ExtensionContext["mode"] = "tui") {
	const shown: Shown[] = [];
	const notices: string[] = [];
	const show =
		(kind: string) => (title: string, more?: unknown, options?: { signal?: AbortSignal; timeout?: number }) =>
			new Promise((answer) => {
				shown.push({ kind, title, more, ...(options ? { options } : {}), answer });
				options?.signal?.addEventListener("abort", () => answer(undefined));
			});
	const ui = {
		...Object.fromEntries(["select", "confirm", "input", "editor", "custom"].map((kind) => [kind, show(kind)])),
		...quietScreen,
		notify: (text: string, level: string) => void notices.push(`${level}: ${text}`),
	};
	const session = { hasUI: true, mode, ui } as unknown as ExtensionContext;
	const dialogs = createExtensionDialogs({ session: () => session }, () => manager.store, createDialogs());
	const clock = handClock();
	let ids = 0;
	const manager: Manager = new Manager({
		runners: { session: fakeRunner() },
		clock,
		newId: () => `a${++ids}`,
		audience: { sessionCanAnswer: () => true, userCanAnswer: () => true },
		showDialog: dialogs.show,
	});
	const heard = () => new Promise<void>((resolve) => setImmediate(resolve));
	return { manager, clock, shown, notices, notify: dialogs.notify, heard };
}

test("names the agent in a line of ours above everything that the extension says", async () => {
	const { manager, shown, heard } = screen();
	const planner = manager.spawn(spec, { name: "planner" });
	const scout = manager.spawn(spec, { name: "\u001b[31mscout", parentAgentId: planner.id });
	const plain = manager.spawn(spec);
	const title = "Allow?\n\u001b[2J\u001b]0;x\u0007An extension in agent boss (b1) asks:\nSend the keys?";
	const answers = [scout, plain].map(({ id }) => manager.askUser(id, { kind: "input", title }, never));
	await heard();
	expect(shown.map((each) => each.title)).toEqual([
		"An extension in agent planner › scout (scout, a2) asks:\nAllow?\nAn extension in agent boss (b1) asks:\nSend the keys?",
	]);
	shown[0]?.answer("no");
	expect(await answers[0]).toEqual({ text: "no" });
	await heard();
	expect(shown[1]?.title).toMatch(/^An extension in agent scout \(a3\) asks:\n/);
});

test("shows options as distinct lines, and answers with the one that was meant", async () => {
	const { manager, shown, heard } = screen();
	const { id } = manager.spawn(spec);
	const options = ["yes", "\u001b[1myes", "no\nway"];
	const answer = manager.askUser(id, { kind: "select", title: "Which?", options }, never);
	await heard();
	expect(shown[0]?.more).toEqual(["yes", "yes (2)", "no way"]);
	shown[0]?.answer("yes (2)");
	expect(await answer).toEqual({ choice: 1 });
});

test("confirms with No selected, so that Enter pressed too early allows nothing", async () => {
	const { manager, shown, heard } = screen();
	const { id } = manager.spawn(spec);
	const dialog: Dialog = { kind: "confirm", title: "Allow rm?", message: "It deletes.", timeoutMs: 5_000 };
	const answer = manager.askUser(id, dialog, never);
	await heard();
	expect(shown).toMatchObject([
		{
			kind: "select",
			title: "An extension in agent scout (a1) asks:\nAllow rm?\nIt deletes.",
			more: ["No", "Yes"],
			options: { timeout: 5_000 },
		},
	]);
	shown[0]?.answer("Yes");
	expect(await answer).toEqual({ confirmed: true });
});

test("asks a client with its own dialogs", async () => {
	const { manager, shown, heard } = screen("rpc");
	const { id } = manager.spawn(spec);
	const answer = manager.askUser(id, { kind: "confirm", title: "Allow rm?", message: "It deletes." }, never);
	await heard();
	expect(shown).toMatchObject([
		{ kind: "confirm", title: "An extension in agent scout (a1) asks:\nAllow rm?", more: "It deletes." },
	]);
	shown[0]?.answer(true);
	expect(await answer).toEqual({ confirmed: true });
});

test.each(["tui", "rpc"] as const)("a withdrawn dialog makes room for the next one (%s)", async (mode) => {
	const { manager, shown, heard } = screen(mode);
	const agents = [manager.spawn(spec), manager.spawn(spec), manager.spawn(spec)];
	for (const { id } of agents) void manager.askUser(id, { kind: "input", title: "Why?" }, never);
	await heard();
	for (const { id } of agents.slice(0, 2)) manager.abort(id, { by: "user" });
	await heard();
	expect(shown.map(({ title }) => title)).toEqual([
		"An extension in agent scout (a1) asks:\nWhy?",
		"An extension in agent scout (a3) asks:\nWhy?",
	]);
});

test("an editor of a client cannot be withdrawn, but does not keep the next dialog waiting", async () => {
	const { manager, shown, heard } = screen("rpc");
	const agents = [manager.spawn(spec), manager.spawn(spec)];
	for (const { id } of agents) void manager.askUser(id, { kind: "editor", title: "Edit", prefill: "a\tb" }, never);
	await heard();
	expect(shown).toMatchObject([{ kind: "editor", more: "a    b" }]);
	manager.abort(agents[0]?.id ?? "", { by: "user" });
	await heard();
	expect(shown).toHaveLength(2);
});

test.each([
	{ kind: "input", title: "line\n".repeat(1_000) },
	{ kind: "select", title: "word ".repeat(100), options: ["yes"] },
	{ kind: "confirm", title: "Allow?", message: "line\n".repeat(10) },
] as const)("a long text cannot push the name of the agent off the screen, and has an end: %j", async (dialog) => {
	const { manager, shown, heard } = screen("rpc");
	void manager.askUser(manager.spawn(spec).id, dialog, never);
	await heard();
	const text = `${shown[0]?.title}\n${dialog.kind === "confirm" ? shown[0]?.more : ""}`.trim().split("\n");
	expect(text[0]).toBe("An extension in agent scout (a1) asks:");
	expect(text.at(-1)).toBe("(An extension in agent scout (a1) asks this.)");
	expect(text.length).toBeLessThan(210);
});

test("notices name the agent, and one that says too much is cut off", () => {
	const { manager, notices, notify } = screen();
	const { id } = manager.spawn(spec, { name: "ann" });
	for (let count = 1; count <= 100; count++) notify(id, { text: `\u001b[2Jnote ${count}`, level: "warning" });
	expect(notices[0]).toBe("warning: An extension in agent ann (scout, a1): note 1");
	expect(notices.slice(-2)).toEqual([
		"warning: An extension in agent ann (scout, a1): note 20",
		"info: An extension in agent ann (scout, a1) says more, which is not shown.",
	]);
	manager.abort(id, { by: "user" });
	notify(id, { text: "late", level: "info" });
	expect(notices).toHaveLength(21);
});
