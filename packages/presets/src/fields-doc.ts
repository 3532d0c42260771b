/** Writes the table of fields for people. The committed `FIELDS.md` must equal it; a test compares them. */
import { fields } from "./fields.ts";
import { expected } from "./values.ts";

/**
 * The field table as markdown.
 *
 * @example
 * await writeFile("FIELDS.md", fieldsMarkdown());
 */
export function fieldsMarkdown(): string {
	const rows = fields.map((field) => {
		const aliases = field.aliases.map((alias) => `\`${alias}\``).join(", ");
		const name = `\`${field.name}\`${aliases === "" ? "" : ` (also ${aliases})`}`;
		const wrong = field.onError === "refuse" ? "preset refused" : "field ignored";
		return `| ${[name, field.doc, expected(field.kind), field.absent, wrong].map(cell).join(" | ")} |`;
	});
	return [
		"# Frontmatter of a preset",
		"",
		"Generated from the field table in `src/fields.ts`; do not edit. camelCase and kebab-case spellings are understood too.",
		"A wrong value costs the whole preset where ignoring it could give the agent more than the file allows.",
		"",
		"| field | what it does | value | when absent | wrong value |",
		"|---|---|---|---|---|",
		...rows,
		"",
	].join("\n");
}

function cell(text: string): string {
	return text.replaceAll("|", "\\|");
}
