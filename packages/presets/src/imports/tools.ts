/** Reads what a list of tools contains besides names: calls such as `Agent(worker)`, rules for a tool, tools of MCP servers. */

import type { Entry } from "../frontmatter/simple-frontmatter.ts";
import { splitItems, splitTools } from "../model/items.ts";
import { usableName } from "../model/names.ts";
import { quote } from "../model/text.ts";
import type { Rewrite } from "./rewrite.ts";

/** The tools with which other programs start agents. */
const agentTools = new Set(["agent", "task", "subagent"]);

const noToolLeft = "none of these tools exists here, so the agent has no tools: it can only answer from its task";

/** `Name(inner)` or `Name`, in lower case. */
export function parseToolCall(item: string): { readonly name: string; readonly inner?: string } {
	const match = /^([^()]*)\((.*)\)$/.exec(item);
	return match === null
		? { name: item.toLowerCase() }
		: { name: (match[1] ?? "").trim().toLowerCase(), inner: match[2] ?? "" };
}

export function isAgentTool(item: string): boolean {
	return agentTools.has(parseToolCall(item).name);
}

/** The agents that such items name. Agents of plugins do not exist here; only they are dropped. */
export function readAgentTools(file: Rewrite, entry: Entry, items: readonly string[]): "*" | readonly string[] {
	const agents = new Set<string>();
	for (const item of items) {
		const { inner } = parseToolCall(item);
		const names = inner === undefined || inner.trim() === "" ? ["*"] : (splitItems(inner) ?? []);
		const usual = names.map((name) => (name === "*" ? name : name.includes(":") ? undefined : usableName(name)));
		const known = usual.filter((name) => name !== undefined);
		for (const name of known) agents.add(name);
		if (known.length > 0) file.note(entry, item, `subagents: ${known.join(", ")}`);
		const unknown = names.filter((_, index) => usual[index] === undefined);
		if (unknown.length > 0) file.reportLoss(entry, item, `the agent cannot start ${unknown.map(quote).join(", ")}`);
	}
	return agents.has("*") ? "*" : [...agents];
}

/** Warns when no tool of a non-empty list exists here. */
export function warnIfNoToolIsLeft(
	file: Rewrite,
	entry: Entry,
	asked: readonly string[],
	left: readonly string[],
): void {
	if (asked.length > 0 && left.length === 0) file.warn(entry, noToolLeft);
}

/** The tools of a file that was written for pi: removes only items that are not tool names. */
export function readOwnTools(file: Rewrite): void {
	const entry = file.entryOf("tools");
	const items = splitTools(entry?.value);
	if (entry === undefined || items === undefined) return;
	const starting = items.filter(isAgentTool);
	if (starting.length === 0) return;
	file.take(entry.key);
	file.putSubagents(readAgentTools(file, entry, starting), entry);
	const left = items.filter((item) => !starting.includes(item));
	file.put("tools", left, entry);
}

/** Whether an item is a tool of an MCP server, or a whole server: `mcp__server__tool`, `mcp:server`. */
export function isMcpItem(item: string): boolean {
	return /^(?:mcp__[\w.-]+(?:__\*)?|mcp:[\w-]+(?:\/(?:\*|[^\s,()*]+))?)$/.test(item);
}
