/** A conversation in memory, a theme without colours, and a viewer of it that a test presses keys in. */
import {
	CURSOR_MARKER,
	KeybindingsManager,
	stripTerminalSequences,
	TUI_KEYBINDINGS,
	visibleWidth,
} from "@earendil-works/pi-tui";
import {
	type ConversationEntry,
	type ConversationSource,
	ConversationViewer,
	type ViewerOptions,
	type ViewerTheme,
} from "../../src/index.ts";

const same = (text: string) => text;

export const plainTheme: ViewerTheme = {
	text: same,
	userText: same,
	thinking: same,
	toolTitle: same,
	toolOutput: same,
	muted: same,
	dim: same,
	accent: same,
	warning: same,
	error: same,
	border: same,
	thumb: same,
	match: same,
	currentMatch: same,
	markdown: {
		heading: same,
		link: same,
		linkUrl: same,
		code: same,
		codeBlock: same,
		codeBlockBorder: same,
		quote: same,
		quoteBorder: same,
		hr: same,
		listBullet: same,
		bold: same,
		italic: same,
		strikethrough: same,
		underline: same,
	},
};

export const told = (content: string): ConversationEntry => ({ type: "message", message: { role: "user", content } });

export const said = (text: string): ConversationEntry => ({
	type: "message",
	message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" },
});

export const thought = (thinking: string, text: string): ConversationEntry => ({
	type: "message",
	message: {
		role: "assistant",
		content: [
			{ type: "thinking", thinking },
			{ type: "text", text },
		],
	},
});

export const called = (...calls: [id: string, name: string, args: Record<string, unknown>][]): ConversationEntry => ({
	type: "message",
	message: {
		role: "assistant",
		content: calls.map(([id, name, args]) => ({ type: "toolCall", id, name, arguments: args })),
		stopReason: "toolUse",
	},
});

export const result = (id: string, name: string, text: string, isError = false): ConversationEntry => ({
	type: "message",
	message: { role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text }], isError },
});

export const lines = (count: number, of = "line"): string =>
	Array.from({ length: count }, (_, index) => `${of} ${index + 1}`).join("\n");

/** Entries that are made when they are read, as many as one likes. */
export interface Made {
	length: number;
	at: (index: number) => ConversationEntry;
}

/** Counts what is read of it. */
export class MemorySource implements ConversationSource {
	readonly #listeners = new Set<(length: number) => void>();
	#made: Made;
	#added: ConversationEntry[] = [];
	length: number;
	entriesRead = 0;

	constructor(entries: readonly ConversationEntry[] | Made) {
		this.#made = "at" in entries && !Array.isArray(entries) ? (entries as Made) : { length: 0, at: () => told("") };
		if (Array.isArray(entries)) this.#added = [...entries];
		this.length = this.#made.length + this.#added.length;
	}

	async read(from: number, count: number): Promise<ConversationEntry[]> {
		const { length, at } = this.#made;
		const indexes = Array.from(
			{ length: Math.max(0, Math.min(this.length - from, count)) },
			(_, place) => from + place,
		);
		this.entriesRead += indexes.length;
		return indexes.flatMap((index) => (index < length ? at(index) : (this.#added[index - length] ?? [])));
	}

	onAppend(listener: (length: number) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	get isHeard(): boolean {
		return this.#listeners.size > 0;
	}

	push(...entries: ConversationEntry[]): void {
		this.#added.push(...entries);
		this.length += entries.length;
		for (const listener of this.#listeners) listener(this.length);
	}

	/** Begins anew, as another file under the same name does. */
	replace(...entries: ConversationEntry[]): void {
		this.#made = { length: 0, at: () => told("") };
		this.#added = [];
		this.length = 0;
		for (const listener of this.#listeners) listener(0);
		this.push(...entries);
	}
}

export interface VisibleNode {
	viewer: ConversationViewer;
	/** What is on the screen, without the blanks at the ends of lines. */
	screen: () => string[];
	/** The lines of the conversation, without the frame. */
	body: () => string[];
	/** The line below the conversation. */
	status: () => string;
	hints: () => string;
	/** Presses keys, one by one, and waits until nothing changes any more. */
	press: (...keys: string[]) => Promise<void>;
	settled: () => Promise<void>;
	renders: () => number;
	isClosed: () => boolean;
}

export const KEYS = {
	up: "\u001b[A",
	down: "\u001b[B",
	pageUp: "\u001b[5~",
	pageDown: "\u001b[6~",
	home: "\u001b[H",
	end: "\u001b[F",
	enter: "\r",
	escape: "\u001b",
};

export async function show(
	source: ConversationSource,
	options: Partial<ViewerOptions> & { width?: number; height?: number } = {},
): Promise<VisibleNode> {
	const { width = 60, height = 20, ...rest } = options;
	let renders = 0;
	let isClosed = false;
	const viewer = new ConversationViewer({
		source,
		theme: plainTheme,
		keys: new KeybindingsManager(TUI_KEYBINDINGS),
		rows: () => height,
		isLive: () => true,
		requestRender: () => {
			renders++;
		},
		close: () => {
			isClosed = true;
		},
		...rest,
	});
	viewer.focused = true;
	const screen = () => viewer.render(width).map((line) => stripTerminalSequences(line).trimEnd());
	const settled = async () => {
		for (let quiet = 0; quiet < 4; ) {
			const before = renders;
			viewer.render(width);
			await new Promise((resolve) => setImmediate(resolve));
			quiet = renders === before ? quiet + 1 : 0;
		}
	};
	await settled();
	return {
		viewer,
		screen,
		body: () =>
			screen()
				.filter((line) => /^│.*[│┃]$/.test(line))
				.slice(0, -1)
				.map((line) => line.slice(2, -2).trimEnd()),
		status: () => screen().findLast((line) => line.startsWith("├")) ?? "",
		hints: () => screen().at(-2)?.slice(2, -2).trim() ?? "",
		async press(...keys) {
			for (const key of keys) {
				viewer.handleInput(key);
				await settled();
			}
		},
		settled,
		renders: () => renders,
		isClosed: () => isClosed,
	};
}

/** Why the lines do not fit the screen; empty if they do. */
export function misfits(shown: readonly string[], width: number, rows: number): string[] {
	const wrong = shown.flatMap((line, index) =>
		visibleWidth(line) === width
			? []
			: [`line ${index} is ${visibleWidth(line)} wide, not ${width}: ${JSON.stringify(line)}`],
	);
	const dirty = shown.flatMap((line, index) =>
		CONTROLS.test(line.replace(CURSOR_MARKER, "").replace(/\u001b\[[0-9;]*m/g, ""))
			? [`line ${index} has a control character: ${JSON.stringify(line)}`]
			: [],
	);
	return [...(shown.length === rows ? [] : [`${shown.length} lines, not ${rows}`]), ...wrong, ...dirty];
}

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
