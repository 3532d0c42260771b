/** What takes the keys for a while, below the conversation: a line to type in, or a list to choose from. */
import { Input, SelectList } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import type { Relative } from "./options.ts";
import { clip } from "./row.ts";
import type { ViewerTheme } from "./theme.ts";

export interface Prompt {
	/** What its confirming key does. */
	confirms: string;
	render(width: number): string[];
	handleInput(data: string): void;
	/** Whether the cursor is here. */
	focus(isFocused: boolean): void;
}

export interface Typing {
	title: string;
	/** What its confirming key does. */
	confirms: string;
	/** Shown where nothing has been typed yet. */
	placeholder: string;
	onSubmit: (text: string) => void;
	onCancel: () => void;
}

export function typePrompt(typing: Typing, theme: ViewerTheme): Prompt {
	const { title, confirms, placeholder, onSubmit, onCancel } = typing;
	const input = new Input({ prompt: theme.accent(`${title} `), placeholder, placeholderStyle: theme.dim });
	input.onSubmit = (text) => onSubmit(text.trim());
	input.onEscape = onCancel;
	return {
		confirms,
		render: (width) => input.render(width),
		handleInput(data) {
			input.handleInput(data);
			const typed = input.getValue();
			const clean = sanitize(`|${typed}|`).slice(1, -1); // what was pasted may hold anything
			if (clean !== typed.replace(/\s+/g, " ")) input.setValue(clean);
		},
		focus(isFocused) {
			input.focused = isFocused;
		},
	};
}

export interface Choosing {
	items: readonly Relative[];
	onChoose: (id: string) => void;
	onCancel: () => void;
}

const MOST_ITEMS = 8;

export function choosePrompt({ items, onChoose, onCancel }: Choosing, theme: ViewerTheme): Prompt {
	const list = new SelectList(
		items.map(({ id, relation, label }) => ({
			value: id,
			label: `${RELATIONS[relation]} ${clip(sanitize(label), 200)}`,
		})),
		MOST_ITEMS,
		{
			selectedPrefix: theme.accent,
			selectedText: theme.accent,
			description: theme.muted,
			scrollInfo: theme.muted,
			noMatch: theme.muted,
		},
		{ minPrimaryColumnWidth: 200, maxPrimaryColumnWidth: 200 },
	);
	list.onSelect = ({ value }) => onChoose(value);
	list.onCancel = onCancel;
	return {
		confirms: "open",
		render: (width) => list.render(width),
		handleInput: (data) => list.handleInput(data),
		focus: () => undefined,
	};
}

const RELATIONS = { parent: "↑", child: "↓" } as const satisfies Record<Relative["relation"], string>;
