/**
 * The settings for people and for editors. The committed `docs/settings.md` and `settings.schema.json` must equal them,
 * and `docs/migration.md` must hold the names that other extensions use.
 */
import { choicesOf, expected, isGroup, readings, type Shape, settingsShape, unread } from "@pi-subagents/launch";

const EXAMPLE = {
	$schema: "./npm/node_modules/@pi-subagents/extension/settings.schema.json",
	maxConcurrent: 4,
	maxPerProvider: { anthropic: 2 },
	retention: { days: 30 },
	agentOverrides: { Explore: { model: "haiku", max_turns: 20 } },
};

export function settingsMarkdown(): string {
	return `# Settings

Generated from \`packages/launch/src/settings/schema.ts\`; do not edit.

Settings are plain JSON, without comments, in up to four files. If several set the same key, the last in this list wins:

1. \`~/.pi/agent/settings.json\`, under the key \`subagents\`
2. \`~/.pi/agent/subagents.json\`
3. \`.pi/settings.json\` of the project, under the key \`subagents\`
4. \`.pi/subagents.json\` of the project

A project's files count only if pi has stored your trust in it (\`/trust\`). \`agentOverrides\` of several files are merged by preset, \`retention\` by key; any other value is replaced as a whole. An edit takes effect with the next launch.

An invalid value is ignored by itself, and pi reports the file, the key, the value and what was expected.

\`\`\`json
${JSON.stringify(EXAMPLE, null, 2)}
\`\`\`

With \`$schema\`, editors complete and check the file; this path is right if \`pi install\` installed the package. The fields of \`agentOverrides\` are [those of a preset](../packages/presets/FIELDS.md).

| key | default | value | what it does |
|---|---|---|---|
${rowsOf(settingsShape, "").join("\n")}
`;
}

/** What editors complete and check from. */
export function settingsJsonSchema(): string {
	const schema = {
		$schema: "http://json-schema.org/draft-07/schema#",
		title: "Settings of pi-subagents",
		type: "object",
		properties: { $schema: { type: "string" }, ...settingsShape.properties },
		additionalProperties: false,
	};
	// A file need not set everything.
	return `${JSON.stringify(schema, (key, value) => (key === "required" ? undefined : value), "\t")}\n`;
}

/** The names of other extensions. */
export function foreignMarkdown(): string {
	const read = Object.entries(readings).map(([key, { own, values }]) => {
		const meanings = Object.entries(values ?? {}).map(
			([theirs, ours]) => `\`${theirs}\` is \`${JSON.stringify(ours)}\``,
		);
		return `| \`${key}\` | \`${own}\`${meanings.length > 0 ? `: ${meanings.join(", ")}` : ""} |`;
	});
	const others = Object.entries(unread).map(([key, { why, met }]) => {
		const values = met?.map((value) => `\`${value}\``).join(" or ");
		const told = values === undefined ? "" : `; pi reports it${values === "" ? "" : ` unless it is ${values}`}`;
		return `| \`${key}\` | nothing: ${why}${told} |`;
	});
	return ["| in other extensions | here |", "|---|---|", ...read, ...others].join("\n");
}

function rowsOf({ properties = {} }: Shape, prefix: string): string[] {
	return Object.entries(properties).flatMap(([name, shape]) => {
		const key = `${prefix}${name}`;
		const inner = isGroup(shape) ? rowsOf(shape, `${key}.`) : [];
		const fallback = shape.default === undefined ? "" : `\`${JSON.stringify(shape.default)}\``;
		const cells = [`\`${key}\``, fallback, expected(shape), `${shape.description}${meaningsOf(shape)}`];
		return [`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`, ...inner];
	});
}

function meaningsOf(shape: Shape): string {
	const meanings = choicesOf(shape).map((option) => `<br>\`${option.const}\`: ${option.description}`);
	return meanings.join("");
}
