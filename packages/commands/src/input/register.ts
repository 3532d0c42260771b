/**
 * Hears what the user types into pi's editor: messages to agents, and the key that opens the list of agents. Part of every
 * start, so the code behind it is loaded on first use.
 */
import type { ExtensionAPI, ExtensionContext, InputEvent, InputEventResult } from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem, AutocompleteProvider, KeyId } from "@earendil-works/pi-tui";

export interface MentionCode {
	handle(input: Pick<InputEvent, "text" | "images">, ctx: ExtensionContext): Promise<InputEventResult | undefined>;
	/** The names that begin like this. */
	suggest(typed: string): AutocompleteItem[];
}

/**
 * Must be called before anything else listens to input: where a message went to an agent, no turn of the session follows,
 * and the other listeners would wait for one.
 */
export function offerMentions(pi: ExtensionAPI, load: () => Promise<MentionCode>): void {
	pi.on("input", async (event, ctx) => {
		if (event.source === "extension" || !event.text.startsWith("@")) return undefined;
		return (await load()).handle(event, ctx);
	});
	pi.on("session_start", (_event, { mode, ui }) => {
		if (mode !== "tui") return;
		ui.addAutocompleteProvider((current) => withMentions(current, async (typed) => (await load()).suggest(typed)));
	});
}

interface AgentsKey {
	/** The key of the user's settings; empty if there is none. */
	key: (ctx: ExtensionContext) => Promise<string>;
	open: (ctx: ExtensionContext) => Promise<void>;
}

/** pi reads the keys of extensions when a session has started. */
export function offerAgentsKey(pi: ExtensionAPI, { key, open }: AgentsKey): void {
	pi.on("session_start", async (_event, ctx) => {
		if (ctx.mode !== "tui") return;
		const wanted = await key(ctx);
		if (wanted !== "") pi.registerShortcut(wanted as KeyId, { description: "Agents of this session", handler: open });
	});
}

/** Agents and presets come before the files that pi suggests. */
export function withMentions(
	current: AutocompleteProvider,
	suggest: (typed: string) => Promise<AutocompleteItem[]>,
): AutocompleteProvider {
	return {
		...(current.triggerCharacters && { triggerCharacters: current.triggerCharacters }),
		async getSuggestions(lines, cursorLine, cursorCol, options) {
			const prefix = (lines[0] ?? "").slice(0, cursorCol);
			// The list that completed the name is still open: pi would continue with all files, and Enter would take one.
			if (cursorLine === 0 && !options.force && AFTER_NAME.test(prefix)) return null;
			const files = current.getSuggestions(lines, cursorLine, cursorCol, options);
			const typed = cursorLine === 0 ? typedName(prefix) : undefined;
			if (typed === undefined) return files;
			const [own, others] = await Promise.all([suggest(typed), files]);
			if (own.length === 0) return others;
			return { prefix, items: [...own, ...(others?.prefix === prefix ? others.items : [])] };
		},
		applyCompletion: (...args) => current.applyCompletion(...args),
		shouldTriggerFileCompletion: (...args) => current.shouldTriggerFileCompletion?.(...args) ?? true,
	};
}

/** A name at the start of the text, and a space before the cursor. */
const AFTER_NAME = /^@[^\s/."]+ (?:.* )?$/;

/** What has been typed of a name, if the cursor is behind one at the start of the text. */
export function typedName(beforeCursor: string): string | undefined {
	return /^@([^\s/."]*)$/.exec(beforeCursor)?.[1];
}
