/** The two screens of the menu, and the command that chooses between them. */
import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext, Theme } from "@earendil-works/pi-coding-agent";
import { type Component, KeybindingsManager, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import { Manager } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import type { Launcher, Schedules } from "@pi-subagents/launch";
import { expect, test, vi } from "vitest";
import { defaultSettings } from "../../../launch/test/fixture.ts";
import type { CommandHost } from "../../src/host.ts";
import { menuCommand } from "../../src/menu/menu.ts";
import { createDialogs } from "../../src/questions/dialogs.ts";
import { optionsFor, rpcScreen } from "../../src/screen/screen-rpc.ts";
import { tuiScreen } from "../../src/screen/screen-tui.ts";
import { preset, spec } from "../fixture.ts";

type Ui = Partial<Record<keyof ExtensionCommandContext["ui"], unknown>>;
const context = (ui: Ui, mode = "rpc") =>
	({ ui, mode, hasUI: mode === "rpc" || mode === "tui", cwd: "/project" }) as unknown as ExtensionCommandContext;

test("dialogs wait for their turn, also behind one that failed", async () => {
	const dialogs = createDialogs();
	const shown: string[] = [];
	const show = (name: string, end: Promise<string>) =>
		dialogs.inTurn(() => {
			shown.push(name);
			return end;
		});
	const first = Promise.withResolvers<string>();
	const [one, two, three] = [
		show("one", first.promise),
		show("two", Promise.resolve("2")),
		show("three", Promise.resolve("3")),
	];
	await Promise.resolve();
	expect(shown).toEqual(["one"]);
	first.reject(new Error("closed"));
	await expect(one).rejects.toThrow("closed");
	expect([await two, await three, shown]).toEqual(["2", "3", ["one", "two", "three"]]);
});

test("rpc: options are one clean line each, and no two are alike", () => {
	const item = { label: "scout\u001b[31m", mark: { text: "●" }, about: "look\naround", end: "3s" };
	expect(
		optionsFor([
			{ ...item, value: "a" },
			{ ...item, value: "b" },
			{ value: "c", label: "Stop" },
		]),
	).toEqual(["● scout · look around · 3s", "● scout · look around · 3s (2)", "Stop"]);
});

test("rpc: what the client answers is the thing that was meant; an empty list is only told", async () => {
	const asked: unknown[][] = [];
	const said: string[] = [];
	const ui: Ui = {
		select: async (...args: unknown[]) => {
			asked.push(args);
			return "Stop";
		},
		notify: (text: string) => said.push(text),
	};
	const screen = rpcScreen(context(ui), createDialogs());
	const items = () => [
		{ value: "open", label: "Open" },
		{ value: "stop", label: "Stop" },
	];
	expect(await screen.choose({ title: "Agent", intro: "It works.", items })).toBe("stop");
	expect(asked).toEqual([["Agent\nIt works.", ["Open", "Stop"]]]);
	expect(await screen.choose({ title: "Agent", items: () => [], empty: "None." })).toBeUndefined();
	await screen.copy("/a/path");
	expect(said).toEqual(["None.", "/a/path"]);
});

/** Draws the component of a dialog, and presses keys on it until it is done. */
function tui(...keys: readonly string[]) {
	const theme = { fg: (_colour: string, text: string) => text, bold: (text: string) => text } as unknown as Theme;
	const drawn: string[] = [];
	const redraw = vi.fn();
	const options: unknown[] = [];
	const custom = (factory: (...args: unknown[]) => Component, given: unknown) =>
		new Promise((done) => {
			options.push(given);
			const view = factory(
				{ terminal: { rows: 30 }, requestRender: redraw },
				theme,
				new KeybindingsManager(TUI_KEYBINDINGS),
				done,
			);
			drawn.push(view.render(60).join("\n"));
			for (const key of keys) view.handleInput?.(key);
		});
	return { drawn, redraw, options, screen: tuiScreen(context({ custom }, "tui"), createDialogs(), () => undefined) };
}

test("tui: a decision is a list of two, and Escape is no", async () => {
	const decision = { title: "Stop it?", intro: "It works.", yes: "Stop it", no: "Keep it running" };
	expect(await tui("\r").screen.confirm(decision)).toBe(false); // the safe choice is selected at first
	expect(await tui("\u001b[B", "\r").screen.confirm(decision)).toBe(true);
	expect(await tui("\u001b").screen.confirm(decision)).toBe(false);
});

test("tui: a question says that pi waits for an answer, a list of things to do does not", async () => {
	const { screen, options } = tui("\u001b");
	await screen.confirm({ title: "Stop\u001b[31m it?", intro: "", yes: "Stop it", no: "Keep it" });
	await screen.input({ title: "Its name" });
	await screen.choose({ title: "Agents", items: () => [{ value: "a", label: "A" }] });
	const blocked = (message: string) => ({ blocked: { kind: "question", message } });
	expect(options).toEqual([blocked("Stop it?"), blocked("Its name"), undefined]);
});

test("tui: work that fails closes its dialog and throws; Escape reaches it as a signal", async () => {
	await expect(tui().screen.busy("Busy", () => Promise.reject(new Error("no luck")))).rejects.toThrow("no luck");
	const cancelled = tui("\u001b").screen.busy(
		"Busy",
		(signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("given up"))),
	);
	expect(await cancelled).toBe("given up");
});

function command(ui: Ui, mode: string) {
	const manager = new Manager({ runners: { session: fakeRunner() }, clock: handClock(), newId: () => "agent1" });
	manager.spawn(spec);
	const told: string[] = [];
	const host = { warn: (text: string) => told.push(text) } as unknown as CommandHost;
	const launcher = {
		presetReport: async () => ({
			presets: [preset()],
			problems: [],
			config: { settings: defaultSettings(), refusals: [] },
		}),
	} as unknown as Launcher<ExtensionContext>;
	const schedules = { list: async () => [] } as unknown as Schedules<ExtensionContext>;
	const states = { whileAsking: <Result>(ask: () => Promise<Result>) => ask() };
	const deps = { host, launcher, manager, schedules, dialogs: createDialogs(), states };
	const { handler } = menuCommand({} as ExtensionAPI, deps);
	return { told, run: () => handler("", context(ui, mode)) };
}

test.each(["print", "json"])("%s: the lists are printed, and that the menu needs a terminal", async (mode) => {
	const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
	try {
		await command({}, mode).run();
		expect(log.mock.calls.flat().join("\n")).toMatch(
			/1 agent: 1 running.*scout +project +Looks around\..*needs a terminal/s,
		);
	} finally {
		log.mockRestore();
	}
});

test("a session that is gone ends the menu with a word, not with an error", async () => {
	const stale = () => {
		throw new Error("This context is stale.");
	};
	const { run, told } = command({ select: stale, notify: stale }, "rpc");
	await run();
	expect(told).toEqual(["The menu: This context is stale."]);
});
