/** The agents as a list of the menu draws them. */
import { KeybindingsManager, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import { handClock } from "@pi-subagents/core/testing";
import { type DialogTheme, ListView } from "@pi-subagents/widget/dialogs";
import { expect, test } from "vitest";
import { agentItems } from "../../src/menu/agents/agent-items.ts";
import { agent, NOW } from "../fixture.ts";

const theme = { fg: (_colour: string, text: string) => text, bold: (text: string) => text } as unknown as DialogTheme;
const keys = new KeybindingsManager(TUI_KEYBINDINGS);

test("a list gives the agents columns, and what has no room goes below", () => {
	const agents = [
		agent({ id: "a1", description: "Find the launch code in the notes" }),
		agent({ id: "b2", type: "general-purpose", status: "waiting", question: "Which door?" }),
		agent({ id: "c3", name: "critic", type: "reviewer", status: "queued" }),
	];
	const view = new ListView({
		choice: { title: "Agents › Running agents", items: () => agentItems(agents, "running", NOW) },
		context: { theme, keys, rows: () => 30, redraw: () => undefined },
		clock: handClock(),
		report: () => undefined,
		done: () => undefined,
	});
	const shown = (width: number) =>
		view
			.render(width)
			.map((line) => line.trimEnd())
			.join("\n");
	expect(shown(80)).toBe(`────────────────────────────────────────────────────────────────────────────────
 Agents › Running agents

 → ⠋ scout            a1      Find the launch code in the notes          1m 12s
   ? general-purpose  b2      Find the launch code                       1m 12s
   ◦ reviewer         critic  Find the launch code                       queued

   Reading notes.txt

 ↑↓ move   enter choose   esc back
────────────────────────────────────────────────────────────────────────────────`);
	expect(shown(40)).toBe(`────────────────────────────────────────
 Agents › Running agents

 → ⠋ scout            a1      1m 12s
   ? general-purpose  b2      1m 12s
   ◦ reviewer         critic  queued

   Find the launch code in the notes
   Reading notes.txt

 ↑↓ move   enter choose   esc back
────────────────────────────────────────`);
});
