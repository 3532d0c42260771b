/** The agents as a list of the menu draws them: levels, columns, keys and the filter. */
import { KeybindingsManager, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import type { AgentRecord } from "@pi-subagents/core";
import { handClock } from "@pi-subagents/core/testing";
import { type DialogTheme, ListView } from "@pi-subagents/widget/dialogs";
import { expect, test } from "vitest";
import { agentActions, agentItems, agentKeys } from "../../src/menu/agents/agent-items.ts";
import { agent, NOW } from "../fixture.ts";

const theme = { fg: (_colour: string, text: string) => text, bold: (text: string) => text } as unknown as DialogTheme;

const agents = [
	agent({ id: "c3", name: "critic", type: "reviewer", status: "queued" }),
	agent({
		id: "d4",
		type: "Explore",
		status: "completed",
		outcome: { status: "completed", text: "ok" },
		completedAt: NOW,
	}),
	agent({ id: "a1", description: "Find the launch code in the notes" }),
	agent({ id: "b2", type: "general-purpose", status: "waiting", question: "Which door?", parentAgentId: "a1" }),
	agent({ id: "e5", type: "scout", parentAgentId: "b2" }),
	agent({ id: "f6", type: "worker", parentAgentId: "a1", isolation: "worktree" }),
];

function list(records: readonly AgentRecord[] = agents) {
	const picked: (string | undefined)[][] = [];
	const view = new ListView({
		choice: {
			title: "Agents › This session",
			items: () => agentItems(records, NOW),
			keys: agentKeys((id) => records.find((each) => each.id === id)),
			enter: "open",
			isSearchable: true,
		},
		context: { theme, keys: new KeybindingsManager(TUI_KEYBINDINGS), rows: () => 30, redraw: () => undefined },
		clock: handClock(),
		report: () => undefined,
		done: (...args) => picked.push(args),
	});
	const shown = (width: number) =>
		view
			.render(width)
			.map((line) => line.trimEnd())
			.join("\n");
	const press = (...keys: string[]) => {
		for (const key of keys) view.handleInput(key);
	};
	return { shown, press, picked };
}

const DOWN = "\u001b[B";

test.each([50, 80, 120])("parents stand above children, in columns that line up, at %i columns", (width) => {
	expect(`\n${list().shown(width)}\n`).toMatchSnapshot();
});

test("costs stand in a column of their own, and that of a whole tree below the list", () => {
	const cost = (dollars: number) => ({ usage: { ...agent({}).usage, cost: dollars } });
	const boss = agent({ id: "a1", type: "boss", ...cost(0.012) });
	const leaf = agent({ id: "b2", type: "leaf", parentAgentId: "a1", status: "queued", ...cost(1.5) });
	const shown = list([boss, leaf, agent({ id: "c3" })]).shown(50);
	expect(shown.split("\n").slice(3, 6)).toEqual([
		" → ⠋ boss    a1  $0.012  1m 12s",
		"   └ ◦ leaf  b2   $1.50  queued",
		"   ⠋ scout   c3          1m 12s",
	]);
	expect(shown).toContain("cost $0.012, $1.51 with its sub-agent");
});

test("short names keep their branches, and long ones leave room for them", () => {
	const [boss, leaf] = [agent({ id: "a1", type: "boss" }), agent({ id: "b2", type: "leaf", parentAgentId: "a1" })];
	expect(list([boss, leaf]).shown(80)).toMatch(/→ ⠋ boss .*\n {3}└ ⠋ leaf /);
	const long = "a-preset-with-a-name-that-is-longer-than-any-column";
	expect(list([boss, { ...leaf, type: long }]).shown(50)).toMatch(/\n {3}└ ⠋ a-preset-with-a-name-.*… /);
});

test("the keys are those that the selected agent has", () => {
	const { shown, press, picked } = list();
	const hints = () => shown(200).split("\n").at(-2)?.trim();
	expect(hints()).toBe("↑↓ move   enter open   s steer   x stop   i details   / filter   ? keys   esc back");
	press("r", "a", "d", "q"); // not of this one
	expect(picked).toEqual([]);
	press(DOWN);
	expect(hints()).toBe("↑↓ move   enter open   a answer   s steer   x stop   i details   / filter   ? keys   esc back");
	press("a");
	press(DOWN, DOWN, "d");
	press("\u001b[A", "\u001b[A", "\u001b[A", "\u001b[A", "r", "\r");
	expect(picked).toEqual([["b2", "a"], ["f6", "d"], ["d4", "r"], ["d4"]]);
});

test.each([50, 80, 120])("a question mark shows what all the keys do, until the next key, at %i columns", (width) => {
	const { shown, press, picked } = list();
	const before = shown(width);
	press("?");
	expect(`\n${shown(width)}\n`).toMatchSnapshot();
	press("x"); // only closes the help
	expect(shown(width)).toBe(before);
	expect(picked).toEqual([]);
	press("/", "?"); // here it is a letter
	expect(shown(width)).toContain("> ?");
});

test("a diff is offered where there may be changes: while a worktree is used, and of what was left on a branch", () => {
	const report = { base: "0", files: 0, insertions: 0, deletions: 0 };
	const ended = (worktree: object | undefined) => {
		const outcome = {
			status: "completed" as const,
			text: "",
			...(worktree && { worktree: { ...report, ...worktree } }),
		};
		return agent({ isolation: "worktree", status: "completed", outcome });
	};
	const offered = [
		agent({}),
		agent({ isolation: "worktree" }),
		ended({ branch: "pi-subagents/a1" }),
		ended({ path: "/left" }),
		ended(undefined), // it ended without a report: only git knows
		ended({}),
	].map((each) => agentActions(each, { hasViewer: true }).some(({ value }) => value === "diff"));
	expect(offered).toEqual([false, true, true, true, true, false]);
});

test("a slash filters; the keys then act on what was found, and Escape shows all again", () => {
	const { shown, press, picked } = list();
	press("/", ..."scout");
	expect(shown(80)).toMatch(/→ ⠋ scout +a1 .*\n {3}⠋ scout +e5 /);
	expect(shown(80)).not.toContain("└");
	expect(shown(80)).toContain("↑↓ move   enter done   esc show all");
	press(DOWN, "\r", "s");
	expect(picked).toEqual([["e5", "s"]]);
	press("\u001b");
	expect(shown(80)).toContain("general-purpose");
	press("/", ..."nothing like it");
	expect(shown(80)).toContain("No matches.");
	press("\u001b", "\u001b");
	expect(picked.at(-1)).toEqual([undefined]);
});
