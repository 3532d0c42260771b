/**
 * Agent files in the shapes that public ones have, and as many of each as were counted there: see the table in
 * `docs/migration.md`. All of them are made up here.
 */

export interface CorpusFile {
	/** Below the directory of agents. */
	readonly path: string;
	readonly text: string;
}

interface Shape {
	readonly name: string;
	readonly count: number;
	make(index: number): CorpusFile;
}

/** How models are named in them. */
const modelSpellings: readonly string[] = [
	...["sonnet", "opus", "haiku", "Sonnet", "inherit"],
	...["claude-sonnet-4-20250514", "claude-opus-4-1-20250805", "claude-3-5-sonnet-20241022", "claude-3-haiku"],
	...["claude-sonnet-4-5", "claude-sonnet-4.5", "Claude Sonnet 4.5", "opus[1m]", "claude-haiku-4-5-20251001"],
	...["anthropic/claude-sonnet-4-20250514", "gpt-5", "gpt-5-mini", "openai/gpt-5, sonnet", "gemini-2.5-pro"],
];

const topics = ["api", "build", "cache", "docs", "errors", "forms", "graphs", "hosting", "index", "jobs"];
const roles = ["reviewer", "writer", "tester", "planner", "auditor", "fixer", "guide"];
const toolLists = [
	"Read, Grep, Glob",
	"Read Grep Bash",
	"[Read, Write, Edit]",
	"Read, WebSearch, mcp__github__search",
	"Read, Agent(plugin:helper)",
	"Read, Task, mcp:docs/search",
	"*",
	"WebFetch",
];
const decorations = [
	"color: teal",
	"emoji: x\nvibe: calm",
	"isolation:\nmemory:",
	"skills: one, two\ninheritSkills: false",
	"permissionMode: plan",
	"disallowedTools: none",
	"maxTurns: 12\ncapabilities: [a, b]",
	"hooks:\n  Stop: []",
	"metadata:\n  author: nobody",
	"",
];

const shapes: readonly Shape[] = [
	{
		name: "models",
		count: 935,
		make: (index) => file("m", index, "", `description: ${about(index)}\nmodel: "${pick(modelSpellings, index)}"`),
	},
	{
		name: "names with spaces",
		count: 355,
		make: (index) => ({
			path: `spaces/a${index}.md`,
			text: `---\nname: ${title(pick(topics, index))} ${title(pick(roles, index))} ${index}\ndescription: ${about(index)}\ntools: ${pick(toolLists, index)}\n---\nHelp.\n`,
		}),
	},
	{
		name: "descriptions in several lines",
		count: 28,
		make: (index) =>
			file("d", index, "examples/", `description: ${about(index)} Examples:${example}\nmodel: inherit\ncolor: pink`),
	},
	{
		name: "a literal line break",
		count: 156,
		make: (index) =>
			file(
				"n",
				index,
				"",
				`description: ${about(index)}${example.replaceAll("\n", "\\n")}\ntools: ${pick(toolLists, index)}`,
			),
	},
	{
		name: "others",
		count: 1449,
		make: (index) =>
			file(
				"o",
				index,
				index % 3 === 0 ? `team-${index % 9}/${pick(topics, index)}/` : "",
				`description: ${about(index)}\ntools: ${pick(toolLists, index)}\n${pick(decorations, index)}`.trimEnd(),
			),
	},
];

/** Every `nth` file of each shape; every one by default. */
export function corpus({ nth = 1 }: { readonly nth?: number } = {}): CorpusFile[] {
	return shapes.flatMap(({ name, count, make }) => {
		const files: CorpusFile[] = [];
		for (let index = 0; index < count; index += nth) {
			const { path, text } = make(index);
			files.push({ path: `${name.replaceAll(" ", "-")}/${path}`, text });
		}
		return files;
	});
}

const example = `

<example>
Context: The user has written something.
user: "Please look: is it right?"
assistant: "I'll ask the agent."
<commentary>
It was written, so it is looked at.
</commentary>
</example>
`;

/** `letter` keeps the names of the shapes apart. */
function file(letter: string, index: number, folder: string, fields: string): CorpusFile {
	const name = `${pick(topics, index)}-${pick(roles, index)}-${letter}${index}`;
	return { path: `${folder}${name}.md`, text: `---\nname: ${name}\n${fields}\n---\nYou help.\n` };
}

function about(index: number): string {
	return `Use this agent when ${pick(topics, index)} need a ${pick(roles, index)}.`;
}

function title(word: string): string {
	return word.charAt(0).toUpperCase() + word.slice(1);
}

function pick<Value>(list: readonly Value[], index: number): Value {
	return list[index % list.length] as Value;
}
