/** Shows a command's answer to the user: in the TUI as an entry hidden from the model, elsewhere as text. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Block, layout, noteView } from "@pi-subagents/widget/dialogs";
import { Type } from "typebox";
import { Check } from "typebox/value";

const NOTE = "subagents:note";

const cellSchema = Type.Object({
	text: Type.String(),
	tone: Type.Optional(Type.Enum(["strong", "muted", "accent", "good", "warn", "bad"])),
});

/** Session files store blocks, so that they can be laid out at any width. */
const blockSchema = Type.Union([
	cellSchema,
	Type.Object({
		rows: Type.Array(Type.Object({ lead: Type.Array(cellSchema), body: Type.Array(cellSchema) })),
		isClipped: Type.Optional(Type.Boolean()),
	}),
]);

const noteSchema = Type.Object({ blocks: Type.Array(blockSchema) });

/** Used where the reader's width is unknown. */
const TEXT_COLUMNS = 100;

/** Entries from a session file may have been edited: invalid ones are skipped. */
export function registerNotes(pi: ExtensionAPI): void {
	pi.registerEntryRenderer<unknown>(NOTE, ({ data }, _options, theme) =>
		Check(noteSchema, data) ? noteView(data.blocks, theme) : undefined,
	);
}

export function show(
	pi: ExtensionAPI,
	ctx: Pick<ExtensionContext, "hasUI" | "mode" | "ui">,
	blocks: readonly Block[],
	level: "info" | "error" = "info",
): void {
	const text = () => layout(blocks, TEXT_COLUMNS).join("\n");
	if (ctx.mode === "tui") pi.appendEntry(NOTE, { blocks });
	else if (ctx.hasUI) ctx.ui.notify(text(), level);
	else console.log(text());
}
