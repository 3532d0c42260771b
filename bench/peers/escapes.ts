/** An agent whose words are written to take over a terminal: which of them get there. */
import { converse, lastUserSays, say } from "@pi-subagents-dev/testkit";
import type { Comparison, Work } from "./comparison.ts";
import { type Contender, forEach } from "./contenders.ts";
import { onStage } from "./stage.ts";

const TASK = "Speak your mind.";
/** Each has a number in it that nobody else would write. */
const HOSTILE = {
	"clears the screen": "\x1b[4242;1H\x1b[2J",
	"moves the cursor": "\x1b[4242A",
	"sets a title": "\x1b]0;4242 owned\x07",
	"fills the clipboard": "\x1b]52;c;NDI0Mg==\x07",
	"links elsewhere": "\x1b]8;;https://4242.example/\x1b\\",
	"changes the screen": "\x1b[?4242h",
	"asks the terminal": "\x1bP4242$qm\x1b\\",
	"draws a picture": "\x1b_G4242\x1b\\",
	"in one byte": "\u009b4242m",
	"turns the direction": "4242\u202e4242",
};
const KINDS = Object.values(HOSTILE);
const text = KINDS.map((sequence, at) => `w${at}${sequence}v${at}`).join("\n");

export const escapes: Comparison = {
	lines: [
		{
			name: `kinds of terminal commands that get through, of ${KINDS.length}`,
			unit: "",
			floor: "a bare tool",
			target: { value: 0 },
		},
	],
	work: forEach(speaking),
	rounds: 1,
};

function speaking({ extension, ask }: Contender): Work {
	return () => {
		const rules = [
			converse(lastUserSays("Begin."), ask(TASK, { description: `look ${KINDS.join(" ")}` }), say("It has spoken.")),
			converse(lastUserSays(TASK), say(text)),
		];
		return onStage([extension], rules, async ({ tui: start, server }) => {
			const tui = await start();
			tui.submit("Begin.");
			await server.nextRequest(({ turn, lastUserText }) => turn === 2 && lastUserText === "Begin.");
			await tui.waitFor(() => tui.raw.includes("It has spoken."));
			tui.press("ctrl+o"); // shows results whole
			await tui.waitFor(() => tui.raw.includes(`v${KINDS.length - 1}`), { timeoutMs: 20_000 });
			return [KINDS.filter((sequence) => tui.raw.includes(sequence)).length];
		});
	};
}
