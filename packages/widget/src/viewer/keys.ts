/** Key bindings. pi's bindings come first, so that the user's settings apply here too. */
import { decodeKittyPrintable } from "@earendil-works/pi-tui";

/** The part of pi's keybindings that is used. */
export interface ViewerKeys {
	matches(data: string, keybinding: string): boolean;
	getKeys(keybinding: string): readonly string[];
}

interface Binding {
	/** Names in pi's keybindings. */
	bindings: readonly string[];
	/** Characters that do the same. */
	characters: readonly string[];
	label: string;
}

const BINDINGS = {
	up: { bindings: ["tui.select.up", "tui.altScreen.lineUp"], characters: ["k"], label: "line up" },
	down: { bindings: ["tui.select.down", "tui.altScreen.lineDown"], characters: ["j"], label: "line down" },
	pageUp: { bindings: ["tui.select.pageUp", "tui.altScreen.pageUp"], characters: ["b"], label: "page up" },
	pageDown: { bindings: ["tui.select.pageDown", "tui.altScreen.pageDown"], characters: [" "], label: "page down" },
	halfUp: { bindings: ["tui.altScreen.halfPageUp"], characters: ["u"], label: "half a page up" },
	halfDown: { bindings: ["tui.altScreen.halfPageDown"], characters: ["d"], label: "half a page down" },
	start: { bindings: ["tui.altScreen.top"], characters: ["g"], label: "to the start" },
	end: { bindings: ["tui.altScreen.bottom"], characters: ["G"], label: "to the end, and follow" },
	unfold: { bindings: ["tui.select.confirm", "app.tools.expand"], characters: [], label: "unfold or fold" },
	thinking: { bindings: ["app.thinking.toggle"], characters: ["t"], label: "show or hide thinking" },
	search: { bindings: [], characters: ["/"], label: "search" },
	next: { bindings: [], characters: ["n"], label: "next match" },
	previous: { bindings: [], characters: ["N"], label: "previous match" },
	answer: { bindings: [], characters: ["a"], label: "answer" },
	steer: { bindings: [], characters: ["s"], label: "steer" },
	stop: { bindings: [], characters: ["x"], label: "stop" },
	pause: { bindings: [], characters: ["p"], label: "pause or continue" },
	skip: { bindings: [], characters: ["S"], label: "skip" },
	retry: { bindings: [], characters: ["r"], label: "retry" },
	previousAgent: { bindings: ["tui.editor.cursorLeft"], characters: ["["], label: "previous agent" },
	nextAgent: { bindings: ["tui.editor.cursorRight"], characters: ["]"], label: "next agent" },
	relatives: { bindings: [], characters: ["o"], label: "parent and children" },
	copy: { bindings: [], characters: ["y"], label: "copy path" },
	help: { bindings: [], characters: ["?"], label: "these keys" },
	close: { bindings: ["tui.select.cancel"], characters: ["q"], label: "close" },
} as const satisfies Record<string, Binding>;

export type Command = keyof typeof BINDINGS;

export const COMMANDS = Object.keys(BINDINGS) as Command[];

/** The command bound to this input. */
export function commandOf(data: string, keys: ViewerKeys): Command | undefined {
	const bound = COMMANDS.find((name) => BINDINGS[name].bindings.some((binding) => keys.matches(data, binding)));
	if (bound) return bound;
	const character = decodeKittyPrintable(data) ?? data;
	return COMMANDS.find((name) => BINDINGS[name].characters.some((one) => one === character));
}

export function labelOf(command: Command): string {
	return BINDINGS[command].label;
}

/** The key to show in a hint: the first one, but preferably without modifiers. */
export function keyOf(command: Command, keys: ViewerKeys): string {
	const all = keysOf(command, keys);
	const [first = ""] = all;
	return first.includes("+") ? (all.find((key) => !key.includes("+")) ?? first) : first;
}

/** All keys, without duplicates. */
export function keysOf(command: Command, keys: ViewerKeys): string[] {
	const { bindings, characters } = BINDINGS[command];
	const bound = bindings.flatMap((binding) => keys.getKeys(binding));
	return [...new Set([...bound, ...characters].map(keyName))];
}

function keyName(key: string): string {
	return NAMES.get(key) ?? key;
}

const NAMES = new Map([
	["up", "↑"],
	["down", "↓"],
	["left", "←"],
	["right", "→"],
	["pageUp", "pgup"],
	["pageDown", "pgdn"],
	["escape", "esc"],
	[" ", "space"],
]);
