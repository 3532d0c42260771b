/** Which tools a child gets. Pure. A missing tool is an error before the first turn, never silently dropped. */
import { AgentError } from "../base/error.ts";
import type { RunSpec } from "../model/runner.ts";

/** A tool that a child could have. */
export interface ToolFact {
	name: string;
	/** The extension that provides it, also if it is one of pi's own (`builtin:codemode`); absent for pi's other tools. */
	extension?: string;
	/** Another name of that extension. */
	alias?: string;
	/** Where that extension is, which is a name of it, too. */
	path?: string;
	/** Whether it is active in the launching session. */
	isActive: boolean;
}

/** What a preset says about tools. */
export interface ToolRules {
	/** `"*"`: every tool. Absent: pi's default set, and all tools of the extensions that the agent loads. Entries may be `ext:<extension>`, `ext:<extension>/<tool>`, `mcp:<server>` or `mcp:<server>/<tool>`. */
	tools?: "*" | readonly string[] | undefined;
	disallowedTools?: readonly string[] | undefined;
	/** MCP servers, for all their tools unless `tools` names some of them. */
	mcpServers?: readonly string[] | undefined;
}

/** pi's default tools. */
const DEFAULT_TOOLS = ["read", "bash", "edit", "write"];

/** Read-only, so any session that can run something may lend them. */
const READ_ONLY_TOOLS = new Set(["read", "grep", "find", "ls"]);

export interface ToolRequest extends ToolRules {
	preset: string;
	/** The preset came with the project: a stranger may have written it, so it gets no more than the session has. */
	isFromProject: boolean;
	/** Tools of extensions that the agent does not load. */
	notLoaded?: readonly ToolFact[];
}

/** Whether an agent that loads these extensions has the tool. */
export function isLoaded(
	{ extension, alias, path }: ToolFact,
	{ extensions = false, excludeExtensions = [] }: Pick<RunSpec, "extensions" | "excludeExtensions">,
): boolean {
	if (extension === undefined) return true;
	const isNamed = (names: readonly string[]) =>
		names.some((name) => name === extension || name === alias || name === path);
	if (isBuiltin({ extension })) return !isNamed(excludeExtensions); // loaded for its tools
	return !isNamed(excludeExtensions) && (extensions === true || (Array.isArray(extensions) && isNamed(extensions)));
}

/** Whether one of pi's own extensions provides it. The user switches these tools on one by one. */
function isBuiltin({ extension }: Pick<ToolFact, "extension">): boolean {
	return extension?.startsWith("builtin:") ?? false;
}

export function resolveTools(request: ToolRequest, facts: readonly ToolFact[]): string[] {
	const denied = new Set((request.disallowedTools ?? []).flatMap((entry) => deny(entry, facts, request)));
	const asked = request.tools;
	const names = Array.isArray(asked)
		? asked.flatMap((entry) => expand(entry, facts, request))
		: (asked === "*" ? find("*", facts) : facts.filter(isByDefault)).map(({ name }) => name);
	const allowed = [...new Set(names)].filter((name) => !denied.has(name));
	if (!request.isFromProject) return allowed;
	const beyond = allowed.filter((name) => !isWithinReach(name, facts));
	if (beyond.length > 0 && Array.isArray(asked)) {
		throw new AgentError(
			"forbidden_tool",
			`Project preset "${request.preset}" asks for ${beyond.join(", ")}, which this session does not have active. Activate it, or copy the preset to your own presets.`,
		);
	}
	return allowed.filter((name) => !beyond.includes(name));
}

/** A preset that asks for an extension and does not say which tools it wants means the extension's, too. */
function isByDefault({ name, extension }: ToolFact): boolean {
	return extension === undefined ? DEFAULT_TOOLS.includes(name) : !isBuiltin({ extension });
}

/** One entry of a list: a tool's name, or the tools of an extension. */
function expand(entry: string, facts: readonly ToolFact[], { preset, notLoaded = [] }: ToolRequest): string[] {
	const found = find(entry, facts);
	if (found.length > 0) return found.map(({ name }) => name);
	const [missed] = find(entry, notLoaded);
	if (missed)
		throw new AgentError(
			"unknown_tool",
			`Preset "${preset}" names the tool "${entry}" of the extension "${missed.extension}", which it does not load. Add the extension to its \`extensions\`.`,
		);
	const hint = nearest(entry, facts.flatMap(spellings));
	const known = facts.map(({ name }) => name).join(", ");
	throw new AgentError(
		"unknown_tool",
		`Preset "${preset}" names the tool "${entry}", which does not exist here.${hint ? ` Did you mean "${hint}"?` : ""} Tools: ${known}.`,
	);
}

/** A missing tool need not be denied, but a typo must not leave a tool allowed. */
function deny(entry: string, facts: readonly ToolFact[], request: ToolRequest): string[] {
	if (entry === "*") return facts.map(({ name }) => name); // also those that it does not stand for in `tools`
	const isKnown = find(entry, facts).length > 0;
	return isKnown || nearest(entry, facts.flatMap(spellings)) ? expand(entry, facts, request) : [];
}

function find(entry: string, facts: readonly ToolFact[]): readonly ToolFact[] {
	if (entry === "*") return facts.filter((fact) => fact.isActive || !isBuiltin(fact));
	return entry.startsWith("ext:") ? ofExtension(entry.slice(4), facts) : facts.filter(({ name }) => name === entry);
}

function ofExtension(wanted: string, facts: readonly ToolFact[]): ToolFact[] {
	const slash = wanted.lastIndexOf("/"); // an extension name may contain one: @scope/name
	const whole = facts.filter((fact) => isOf(fact, wanted));
	if (whole.length > 0 || slash < 0) return whole;
	const [extension, tool] = [wanted.slice(0, slash), wanted.slice(slash + 1)];
	return facts.filter((fact) => isOf(fact, extension) && fact.name === tool);
}

function isOf({ extension, alias }: ToolFact, wanted: string): boolean {
	return extension !== undefined && (extension === wanted || alias === wanted);
}

function isWithinReach(name: string, facts: readonly ToolFact[]): boolean {
	const canAnything = facts.some(({ isActive }) => isActive);
	return facts.some((fact) => fact.name === name && fact.isActive) || (canAnything && READ_ONLY_TOOLS.has(name));
}

function spellings({ name, extension }: ToolFact): string[] {
	return extension === undefined ? [name] : [name, `ext:${extension}`, `ext:${extension}/${name}`];
}

/** The known name with the fewest typos; none if more than a third of it differs. */
export function nearest(word: string, known: readonly string[]): string | undefined {
	let best: { name: string; distance: number } | undefined;
	for (const name of known) {
		const distance = mistakes(word.toLowerCase(), name.toLowerCase());
		if (distance <= Math.max(1, name.length / 3) && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
			best = { name, distance };
		}
	}
	return best?.name;
}

/** The edit distance, counting swapped neighbours as one. Longer words never match. */
function mistakes(a: string, b: string): number {
	if (a.length > 80 || b.length > 80) return Number.POSITIVE_INFINITY;
	let before: number[] = [];
	let row = Array.from({ length: b.length + 1 }, (_, column) => column);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++) {
			const [left = 0, above = 0, corner = 0] = [next[j - 1], row[j], row[j - 1]];
			const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
			const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
			next.push(Math.min(left + 1, above + 1, corner + (a[i - 1] === b[j - 1] ? 0 : 1), swapped));
		}
		[before, row] = [row, next];
	}
	return row[b.length] ?? 0;
}
