/** A prompt below the conversation that captures input: a text line or a list. */
import { Input, SelectList } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { clip } from "../cells/text.ts";
import type { ViewerTheme } from "./content/theme.ts";
import type { Relative } from "./options.ts";

export interface Prompt {
	confirmLabel: string;
	render(width: number): string[];
	handleInput(data: string): void;
	/** Shows or hides the cursor. */
	focus(isFocused: boolean): void;
}

export interface TextPromptOptions {
	title: string;
	confirmLabel: string;
	placeholder: string;
	onSubmit: (text: string) => void;
	onCancel: () => void;
}

export function textPrompt(options: TextPromptOptions, theme: ViewerTheme): Prompt {
	const { title, confirmLabel, placeholder, onSubmit, onCancel } = options;
	const input = new Input({ prompt: theme.accent(`${title} `), placeholder, placeholderStyle: theme.dim });
	input.onSubmit = (text) => onSubmit(text.trim());
	input.onEscape = onCancel;
	return {
		confirmLabel,
		render: (width) => input.render(width),
		handleInput(data) {
			input.handleInput(data);
			const typed = input.getValue();
			const clean = sanitize(`|${typed}|`).slice(1, -1); // pasted text may contain control characters
			if (clean !== typed.replace(/\s+/g, " ")) input.setValue(clean);
		},
		focus(isFocused) {
			input.focused = isFocused;
		},
	};
}

export interface SelectPromptOptions {
	items: readonly Relative[];
	onChoose: (id: string) => void;
	onCancel: () => void;
}

const MAX_ITEMS = 8;

export function selectPrompt({ items, onChoose, onCancel }: SelectPromptOptions, theme: ViewerTheme): Prompt {
	const list = new SelectList(
		items.map(({ id, relation, label }) => ({
			value: id,
			label: `${RELATIONS[relation]} ${clip(sanitize(label), 200)}`,
		})),
		MAX_ITEMS,
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
		confirmLabel: "open",
		render: (width) => list.render(width),
		handleInput: (data) => list.handleInput(data),
		focus: () => undefined,
	};
}

const RELATIONS = { parent: "↑", child: "↓" } as const satisfies Record<Relative["relation"], string>;
