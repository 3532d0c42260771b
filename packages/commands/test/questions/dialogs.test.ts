/** One dialog at a time, also beside those of other extensions and a user who is typing. */
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { handClock } from "@pi-subagents/core/testing";
import { describe, expect, test } from "vitest";
import { createDialogs } from "../../src/questions/dialogs.ts";
import { ownUi } from "../../src/questions/other-dialogs.ts";

const heard = () => new Promise<void>((resolve) => setImmediate(resolve));

/** pi's screen: what was opened, in order, and the keys that reach it. */
function screen() {
	const opened: string[] = [];
	const answers = new Map<string, (value: unknown) => void>();
	const listeners = new Set<(data: string) => { consume?: boolean } | undefined>();
	const notices: string[] = [];
	const statuses = new Map<string, string>();
	const editor = { getText: () => "", setText: () => undefined };
	let shown: object = editor;
	let text = "";
	const show = (title: string) =>
		new Promise<unknown>((resolve) => {
			opened.push(title);
			answers.set(title, resolve);
		});
	const ui = {
		select: show,
		confirm: show,
		input: show,
		editor: show,
		custom: (factory: () => string) => show(factory()),
		notify: (notice: string) => void notices.push(notice),
		getEditorText: () => text,
		theme: { fg: (color: string, shown: string) => `<${color}>${shown}` },
		setWidget: (_key: string, widget?: (tui: object) => unknown) =>
			void widget?.({ children: [{ children: [] }, { children: [{ children: [shown] }] }] }),
		setStatus: (key: string, status: string | undefined) =>
			void (status === undefined ? statuses.delete(key) : statuses.set(key, status)),
		onTerminalInput: (listener: (data: string) => { consume?: boolean } | undefined) => {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
	} as unknown as ExtensionUIContext;
	return {
		ui,
		opened,
		notices,
		answer: (title: string, value: unknown = "yes") => answers.get(title)?.(value),
		/** Whether the key reaches what has the focus. */
		press: (key: string) => [...listeners].every((listener) => listener(key)?.consume !== true),
		write: (draft: string) => {
			text = draft;
		},
		/** One of pi's own lists takes the place of the editor. */
		openList: () => {
			shown = { children: [] };
		},
		closeList: () => {
			shown = editor;
		},
		isHeard: () => listeners.size > 0,
		footer: () => [...statuses.values()].join(" "),
	};
}

function shared() {
	const it = screen();
	const clock = handClock();
	const dialogs = createDialogs(clock);
	dialogs.share(it.ui);
	const ours = (title: string, unasked = {}) =>
		dialogs.inTurn(
			async () => {
				await heard();
				return ownUi(it.ui).select(title, []);
			},
			{ session: () => ({ mode: "tui", ui: it.ui }), ...unasked },
		);
	return { ...it, dialogs, clock, ours };
}

describe("a dialog of another extension", () => {
	test("waits while one of ours is open, and comes before our next one", async () => {
		const { ui, ours, opened, answer } = shared();
		const mine = [ours("ours 1"), ours("ours 2")];
		await heard();
		const theirs = ui.confirm("theirs", "");
		await heard();
		expect(opened).toEqual(["ours 1"]);
		answer("ours 1", "no");
		expect(await mine[0]).toBe("no");
		await heard();
		expect(opened).toEqual(["ours 1", "theirs"]);
		answer("theirs", true);
		expect(await theirs).toBe(true);
		await heard();
		await heard();
		expect(opened).toEqual(["ours 1", "theirs", "ours 2"]);
	});

	test("waits also if it is opened because ours opens", async () => {
		const { ui, dialogs, opened, answer } = shared();
		void dialogs.inTurn(() => {
			queueMicrotask(() => void ui.select("theirs", [])); // as pi announces a dialog to extensions
			return ownUi(ui).select("ours", []);
		});
		await heard();
		expect(opened).toEqual(["ours"]);
		answer("ours");
		await heard();
		expect(opened).toEqual(["ours", "theirs"]);
	});

	test("keeps ours waiting while it is open, and those that it opens itself do not wait", async () => {
		const { ui, ours, opened, answer } = shared();
		void ui.custom(() => "theirs" as never);
		void ours("ours");
		void ui.input("nested");
		await heard();
		expect(opened).toEqual(["theirs", "nested"]);
		answer("nested");
		await heard();
		await heard();
		// Up to pi 1.3 the one below is lost when another opens above it: nothing may wait for it.
		expect(opened).toEqual(["theirs", "nested", "ours"]);
	});

	test("ends without being shown if it is withdrawn meanwhile", async () => {
		const { ui, ours, opened, answer } = shared();
		void ours("ours");
		await heard();
		await heard();
		const over = new AbortController();
		const theirs = [ui.confirm("theirs", "", { signal: over.signal }), ui.select("also", [], { signal: over.signal })];
		over.abort();
		expect(await Promise.all(theirs)).toEqual([false, undefined]);
		answer("ours");
		await heard();
		expect(opened).toEqual(["ours"]);
	});

	test("several of them are shown one after the other", async () => {
		const { ui, ours, opened, answer } = shared();
		void ours("ours");
		await heard();
		void ui.select("one", []);
		void ui.select("two", []);
		await heard();
		answer("ours");
		await heard();
		expect(opened).toEqual(["ours", "one"]);
		answer("one");
		await heard();
		expect(opened).toEqual(["ours", "one", "two"]);
	});

	test("does not appear any more when its session has ended", async () => {
		const { ui, ours, opened, answer, dialogs } = shared();
		void ours("ours");
		await heard();
		await heard();
		const theirs = ui.select("theirs", []);
		dialogs.share(screen().ui);
		answer("ours");
		expect(await theirs).toBeUndefined();
		expect(opened).toEqual(["ours"]);
	});

	test("may be a panel that stays open", async () => {
		const { ui, ours, opened } = shared();
		void ui.custom(() => "panel" as never, { overlay: true, onHandle: () => undefined });
		void ui.custom(() => "clock" as never, { overlay: true, overlayOptions: { nonCapturing: true } });
		void ours("ours");
		await heard();
		await heard();
		expect(opened).toEqual(["panel", "clock", "ours"]);
	});

	test("that stays open for long is no secret: the user is told that an agent asks", async () => {
		const { ui, ours, clock, answer } = shared();
		let delays = 0;
		void ui.select("theirs", []);
		void ours("ours", { onDelay: () => delays++ });
		await heard();
		clock.advance(5_000);
		clock.advance(60_000);
		expect(delays).toBe(1);
		answer("theirs");
	});
});

describe("a user who is writing a message", () => {
	test("is not interrupted before they pause, and does not answer with the key that they were about to press", async () => {
		const { ours, clock, opened, write, press, isHeard } = shared();
		write("please fi");
		void ours("ours");
		await heard();
		for (let keys = 0; keys < 5; keys++) {
			clock.advance(1_999);
			expect(press("x")).toBe(true);
		}
		await heard();
		expect(opened).toEqual([]);
		clock.advance(2_000);
		await heard();
		await heard();
		expect(opened).toEqual(["ours"]);
		expect(press("\r")).toBe(false);
		clock.advance(1_000);
		expect(press("\r")).toBe(true);
		expect(isHeard()).toBe(false);
	});

	test("is asked at once when the message is sent", async () => {
		const { ours, clock, opened, write, press } = shared();
		write("please fix it");
		void ours("ours");
		await heard();
		press("\r");
		write("");
		clock.advance(0);
		await heard();
		await heard();
		expect(opened).toEqual(["ours"]);
		expect(press("\r")).toBe(false); // the second Enter of a nervous finger
	});

	test("is not waited for without end", async () => {
		const { ours, clock, opened, write, press } = shared();
		write("mouse");
		void ours("ours");
		await heard();
		for (let moves = 0; moves < 21; moves++) {
			press("\u001b[<35;1;1M");
			clock.advance(1_000);
		}
		await heard();
		await heard();
		expect(opened).toEqual(["ours"]);
	});

	test("is waited for no longer when the dialog is withdrawn", async () => {
		const { dialogs, ui, write, isHeard } = shared();
		const over = new AbortController();
		write("please");
		const answer = dialogs.inTurn(async () => (over.signal.aborted ? undefined : ownUi(ui).select("ours", [])), {
			session: () => ({ mode: "tui", ui }),
			signal: over.signal,
		});
		await heard();
		over.abort();
		expect(await answer).toBeUndefined();
		expect(isHeard()).toBe(false);
	});

	test("who asked for a dialog gets it at once", async () => {
		const { dialogs, ui, write, opened } = shared();
		write("a draft");
		void dialogs.inTurn(() => ownUi(ui).select("menu", []));
		await heard();
		expect(opened).toEqual(["menu"]);
	});
});

const PAUSE_TEXT = "<dim>dialog ignores keys until you pause for a second";

describe("a dialog that opens by itself", () => {
	const keys = {
		Enter: "\r",
		"Enter of the keypad": "\u001bOM",
		"Enter of the kitty protocol": "\u001b[13u",
		Escape: "\u001b",
		"Ctrl+C": "\u0003",
		"a digit": "1",
		"a letter": "y",
		down: "\u001b[B",
		"a paste": "\u001b[200~yes\u001b[201~",
	};

	test.each(Object.entries(keys))("hears no %s in its first second, over an empty editor", async (_name, key) => {
		const { ours, clock, opened, press, footer } = shared();
		void ours("ours");
		await heard();
		await heard();
		expect(opened).toEqual(["ours"]);
		clock.advance(999);
		expect(footer()).toBe(PAUSE_TEXT);
		expect(press(key)).toBe(false);
		clock.advance(1_000);
		expect(footer()).toBe("");
		expect(press(key)).toBe(true);
	});

	test("hears nothing of someone who types, until they pause", async () => {
		const { ours, clock, press, isHeard } = shared();
		void ours("ours");
		await heard();
		await heard();
		for (const letter of "rewrite the parser, please") {
			expect(press(letter)).toBe(false);
			clock.advance(900);
		}
		expect(press("\r")).toBe(false);
		clock.advance(1_000);
		expect(press("\r")).toBe(true);
		expect(isHeard()).toBe(false);
	});

	test("is not kept from hearing by the mouse or by answers of the terminal, which reach pi", async () => {
		const { ours, clock, press, footer } = shared();
		void ours("ours");
		await heard();
		await heard();
		const noKeys = ["\u001b[<35;1;1M", "\u001b[I", "\u001b[?1u", "\u001b[6;18;9t", "\u001b]11;rgb:0/0/0\u0007"];
		for (const data of noKeys) {
			clock.advance(190);
			expect(press(data)).toBe(true);
		}
		clock.advance(50);
		expect(footer()).toBe("");
	});

	test("hears nothing at first either where it follows an answered one, of ours or of another extension", async () => {
		const { ours, ui, clock, opened, answer, press, footer } = shared();
		void ours("first");
		void ours("second");
		await heard();
		await heard();
		clock.advance(1_000);
		expect(press("\r")).toBe(true);
		answer("first");
		await heard();
		await heard();
		expect(opened).toEqual(["first", "second"]);
		expect(press("\r")).toBe(false);
		clock.advance(1_000);
		void ui.select("theirs", []);
		expect(press("\r")).toBe(true);
		answer("second");
		await heard();
		expect(opened).toEqual(["first", "second", "theirs"]);
		expect(press("\r")).toBe(false);
		clock.advance(1_000);
		expect(press("\r")).toBe(true);
		answer("theirs");
		await heard();
		expect(footer()).toBe("");
	});

	test("hears nothing at first where a step of a menu was, and the menu's next step hears at once", async () => {
		const { dialogs, ui, ours, clock, opened, answer, press } = shared();
		const step = (title: string) => dialogs.inTurn(() => ownUi(ui).select(title, []));
		void step("step 1");
		void ours("ours");
		await heard();
		expect(press("\r")).toBe(true);
		answer("step 1");
		void step("step 2");
		await heard();
		await heard();
		expect(opened).toEqual(["step 1", "ours"]);
		expect([press("\r"), press("\u001b"), press("\u001b")]).toEqual([false, false, false]);
		clock.advance(1_000);
		answer("ours");
		await heard();
		await heard();
		expect(opened).toEqual(["step 1", "ours", "step 2"]);
		expect(press("\r")).toBe(true);
	});

	test("leaves nothing behind if it is answered elsewhere in its first second", async () => {
		const { ours, answer, isHeard, footer, clock } = shared();
		const answered = ours("ours");
		await heard();
		await heard();
		answer("ours");
		await answered;
		expect([isHeard(), footer(), clock.waiting()]).toEqual([false, "", 0]);
	});

	test("changes nothing for a client of RPC mode", async () => {
		const { ui, dialogs, opened, isHeard, footer } = shared();
		void dialogs.inTurn(() => ownUi(ui).select("ours", []), { session: () => ({ mode: "rpc", ui }) });
		await heard();
		expect([opened, isHeard(), footer()]).toEqual([["ours"], false, ""]);
	});
});

describe("one of pi's own lists", () => {
	test("stays open while the user is in it, and the dialog that waited for it hears nothing at first", async () => {
		const { ours, clock, opened, press, openList, closeList } = shared();
		let delays = 0;
		openList();
		void ours("ours", { onDelay: () => delays++ });
		for (let seconds = 0; seconds < 60; seconds++) {
			await heard();
			clock.advance(1_000);
		}
		expect([opened, delays]).toEqual([[], 1]);
		expect(press("\r")).toBe(true);
		closeList();
		for (let looks = 0; looks < 3; looks++) {
			await heard();
			clock.advance(200);
		}
		await heard();
		expect(opened).toEqual(["ours"]);
		expect(press("\r")).toBe(false);
	});

	test("keeps no one waiting when the dialog is withdrawn, and no dialog that the user asked for", async () => {
		const { dialogs, ui, clock, opened, openList } = shared();
		const over = new AbortController();
		openList();
		const session = () => ({ mode: "tui" as const, ui });
		const unwanted = dialogs.inTurn(async () => "withdrawn", { session, signal: over.signal });
		await heard();
		over.abort();
		expect(await unwanted).toBe("withdrawn");
		void dialogs.inTurn(() => ownUi(ui).select("menu", []));
		await heard();
		expect([opened, clock.waiting()]).toEqual([["menu"], 0]);
	});

	test("is not waited for in a pi that has its editor elsewhere", async () => {
		const it = screen();
		it.openList();
		const dialogs = createDialogs(handClock());
		dialogs.share(it.ui);
		void dialogs.inTurn(() => ownUi(it.ui).select("ours", []), { session: () => ({ mode: "tui", ui: it.ui }) });
		await heard();
		expect(it.opened).toEqual(["ours"]);
	});
});
