/** A new preset step by step. Escape goes one step back and keeps earlier answers. */
import { modelName } from "@pi-subagents/core";
import { loadPresets } from "@pi-subagents/launch";
import type { Item } from "@pi-subagents/widget/dialogs";
import type { Menu } from "../../screen/navigation.ts";
import { askText, breadcrumb, runWizard, type Step as WizardStep } from "../../screen/navigation.ts";
import { NEW_SOURCE, nameFault, takenNames } from "./preset-file.ts";
import { approveNew, checkNew, writeAsNew } from "./preset-new.ts";
import { type PresetDraft, presetText } from "./preset-text.ts";

/** The position in the wizard, as the title. */
const title = (step: string) => breadcrumb("Agents", "Presets", "New", step);

type Draft = { -readonly [Key in keyof PresetDraft]: PresetDraft[Key] };

type Step = WizardStep<Draft>;

export function createPreset(menu: Menu): Promise<void> {
	const draft: Draft = { name: "", description: "", prompt: "", promptMode: "append" };
	return runWizard([askName, askDescription, askTools, askModel, askPrompt, summarize], draft, menu);
}

const askName: Step = (draft, menu) =>
	askText(menu, draft, "name", {
		title: title("Name"),
		intro: "What should it be called? Letters, digits, dots and dashes, such as api-reviewer.",
		check: async (name) => nameFault(name, await takenNames(menu)),
	});

const askDescription: Step = (draft, menu) =>
	askText(menu, draft, "description", {
		title: title("Description"),
		intro: "When should it be used? The model reads this line.",
		check: async (text) => (text === "" ? "A description is required: the model chooses by it." : undefined),
	});

const TOOLS: readonly (Item & { tools: Draft["tools"] })[] = [
	{
		value: "look",
		label: "Read only",
		about: "read, grep, find, ls: it cannot change anything",
		tools: ["read", "grep", "find", "ls"],
	},
	{
		value: "usual",
		label: "The usual ones",
		about: "read, bash, edit, write",
		tools: ["read", "bash", "edit", "write"],
	},
	{ value: "all", label: "All", about: "every tool available to agents", tools: "*" },
];

const askTools: Step = async (draft, { screen }) => {
	const chosen = await screen.choose({ title: title("Tools"), intro: "What may it do?", items: () => TOOLS });
	const choice = TOOLS.find(({ value }) => value === chosen);
	if (choice?.tools !== undefined) draft.tools = choice.tools;
	return choice !== undefined;
};

const INHERIT = "inherit";

const askModel: Step = async (draft, { screen, host, ctx }) => {
	const { models } = await host.facts(ctx, undefined);
	const items: Item[] = [
		{ value: INHERIT, label: "The session's", about: "the same model as the caller" },
		...models.map((model) => ({ value: modelName(model), label: modelName(model) })),
	];
	const chosen = await screen.choose({
		title: title("Model"),
		intro: "Which model should it use?",
		items: () => items,
		selected: draft.model,
		isSearchable: true,
	});
	if (chosen !== undefined) draft.model = chosen;
	return chosen !== undefined;
};

const askPrompt: Step = async (draft, { screen }) => {
	const text = await screen.edit(
		`${title("Prompt")}: its role, how it works, and what it reports at the end`,
		draft.prompt || `You are ${draft.name}. `,
	);
	if (text !== undefined) draft.prompt = text;
	return text !== undefined;
};

const summarize: Step = async (draft, menu) => {
	const { fields } = await loadPresets();
	const text = presetText(draft, fields, NEW_SOURCE);
	const chosen = await menu.screen.choose({
		title: title("Write it?"),
		intro: text
			.split("\n")
			.slice(1, -2)
			.filter((line) => line !== "---")
			.slice(0, 6)
			.join("\n"),
		items: () => [
			{ value: "write", label: "Write the file", about: "next: choose this project or all projects" },
			{ value: "edit", label: "Review the file first", about: "and edit anything the steps did not cover" },
		],
	});
	if (chosen === undefined) return false;
	const checked = await checkNew(menu, text);
	const isSeen = chosen === "write" && checked.preset !== undefined; // an invalid file must be reviewed
	const isWritten = isSeen
		? await writeAsNew(menu, title("Where"), text, checked)
		: await approveNew(menu, title("File"), text);
	return isWritten || summarize(draft, menu);
};
