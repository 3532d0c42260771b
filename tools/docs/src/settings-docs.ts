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

/** How a project's value joins the user's. */
const WORDS: Record<Exclude<NonNullable<Shape["limit"]>, "none">, keyof typeof JOINING> = {
	users: "yours",
	smaller: "smaller",
	least: "smaller",
	both: "both",
	common: "common",
	either: "either",
	stricter: "stricter",
	fields: "by field",
	first: "yours first",
};

const JOINING = {
	yours: "your value; a project cannot set it at all",
	smaller: "the smaller number; where 0 is no limit, any number is smaller",
	both: "on only if both say so",
	common: "what both name",
	either: "what either names",
	stricter: "the one that is further down in the list of values",
	"by field":
		"[limits of a preset](../packages/presets/FIELDS.md) as here (tools: those that both name; numbers: the smaller; launcher, machine, runner, isolation, `verify`, memory: yours), other fields the project's. It widens neither a preset of your own nor what your settings say about all agents (`idleTimeoutMinutes`, `defaultMaxTurns`, `worktree.setupTimeoutMinutes`, `runner`, `machine`)",
	"yours first": "your value, if you set one",
};

export function settingsMarkdown(): string {
	return `# Settings

Generated from \`packages/launch/src/settings/schema.ts\`; do not edit.

Settings are plain JSON, without comments, in up to four files:

1. \`~/.pi/agent/settings.json\`, under the key \`subagents\`
2. \`~/.pi/agent/subagents.json\`
3. \`.pi/settings.json\` of the project, under the key \`subagents\`
4. \`.pi/subagents.json\` of the project

If both of your own files set a key, the second wins; if both of a project's do, the last. A project's files count only if pi has stored your trust in it (\`/trust\`). Where your files and the project's set the same key, the column *project* of the table below says what counts: a project can narrow what you set, and never widens it. Groups such as \`retention\` are merged key by key, \`agentOverrides\` by preset and field; any other value is replaced as a whole. An edit takes effect with the next launch.

## What is not understood

A setting that limits agents must not be lost to a slip. So **no agent is launched** while

- one of these files cannot be read or is not a JSON object: a comma too many, a comment, a directory or a pipe in its place, more than 256 KB. (A broken \`settings.json\` of pi counts only if it mentions \`subagents\`.)
- a setting that limits agents has a value that is not understood, is there twice, or has a name that is nearly right. These have a word in the column *project*.
- a file that limited agents is gone since pi read it. Put it back, or use \`/reload\` if you removed it.

The error names the file, the line, the key, and what was expected. \`/agents\` (Settings) opens the file for you, \`/subagent doctor\` lists everything. Everything that launches nothing works, and agents that run keep the limits that held before. Other settings are dropped with a notice if they are not understood; names that other extensions use are [read as ours](migration.md) or ignored.

\`\`\`json
${JSON.stringify(EXAMPLE, null, 2)}
\`\`\`

With \`$schema\`, editors complete and check the file; this path is right if \`pi install\` installed the package. The fields of \`agentOverrides\` are [those of a preset](../packages/presets/FIELDS.md).

The column *project* says what counts if you and a project that you trust both set the key. Without a word there it limits nothing, and the project's value counts.

| word | what counts |
|---|---|
${Object.entries(JOINING)
	.map(([word, meaning]) => `| ${word} | ${meaning} |`)
	.join("\n")}

| key | default | value | project | what it does |
|---|---|---|---|---|
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
	const isOurs = (key: string, value: unknown) => key === "limit" && typeof value === "string"; // editors need no such word
	return `${JSON.stringify(schema, (key, value) => (key === "required" || isOurs(key, value) ? undefined : value), "\t")}\n`;
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
		const limit = shape.limit === undefined || shape.limit === "none" ? "" : WORDS[shape.limit];
		const cells = [`\`${key}\``, fallback, expected(shape), limit, `${shape.description}${meaningsOf(shape)}`];
		return [`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`, ...inner];
	});
}

function meaningsOf(shape: Shape): string {
	const meanings = choicesOf(shape).map((option) => `<br>\`${option.const}\`: ${option.description}`);
	return meanings.join("");
}
