/**
 * What the frontmatter of a Claude Code agent means here, including the fields that other programs copied from it:
 * `permissionMode` and `hooks`.
 */

import type { Entry } from "../frontmatter/simple-frontmatter.ts";
import { keyword, mappingEntries, splitTools } from "../model/items.ts";
import { didYouMeanInline } from "../model/suggest.ts";
import { plainText, quote } from "../model/text.ts";
import type { Rewrite } from "./rewrite.ts";
import { isAgentTool, isMcpItem, parseToolCall, readAgentTools, warnIfNoToolIsLeft } from "./tools.ts";

/** Claude Code's names for our tools, in lower case. */
const claudeTools = new Map([
	["read", "read"],
	["notebookread", "read"],
	["grep", "grep"],
	["glob", "find"],
	["ls", "ls"],
	["bash", "bash"],
	["edit", "edit"],
	["multiedit", "edit"],
	["write", "write"],
]);
const allTools = [...new Set(claudeTools.values())];

// Claude Code's tools without a counterpart. Any other unknown name may be an extension's tool and is kept when denied.
const unavailable = new Set(
	`askuserquestion bashoutput enterplanmode exitplanmode killbash killshell lsp notebookedit sendmessage skill slashcommand
	taskoutput taskstop todoread todowrite webfetch websearch`.split(/\s+/),
);
const noCounterpart = ["background", "initialPrompt"];
const writingTools = ["edit", "write", "bash"];
/** Modes in which Claude Code allows an agent at least as much as pi does. */
const openModes = ["default", "acceptEdits", "bypassPermissions", "auto"];

export function readClaude(file: Rewrite): void {
	const lists = file.take("tools", "allowedTools");
	for (const entry of file.take("mcpServers")) readServers(file, entry, lists.length > 0);
	for (const entry of lists) allow(file, entry);
	for (const entry of file.take("disallowedTools")) forbid(file, entry);
	for (const entry of file.take("model")) {
		// `sonnet[1m]`: the context window is not chosen by the file here.
		const value = typeof entry.value === "string" ? entry.value.replace(/\[\w+\]\s*$/, "") : entry.value;
		file.put(entry.key, value, entry);
	}
	for (const name of noCounterpart) for (const entry of file.take(name)) file.reportLoss(entry, name, "it is ignored");
}

function allow(file: Rewrite, entry: Entry): void {
	const items = splitTools(entry.value);
	if (items === undefined || items.some((item) => keyword(item) === "all") || keyword(entry.value) === "none") {
		file.put("tools", entry.value, entry);
		return;
	}
	const allowed = new Set<string>();
	for (const item of items) {
		const { name, inner } = parseToolCall(item);
		const tool = claudeTools.get(name);
		if (isAgentTool(item)) continue;
		if (isMcpItem(item)) {
			allowed.add(item);
			file.note(entry, item, `tools: ${item}`);
		} else if (tool === undefined || inner !== undefined) {
			file.reportLoss(
				entry,
				item,
				tool === undefined
					? "the agent runs without it"
					: `rules for a tool are not supported, so the agent runs without ${quote(tool)}`,
			);
		} else {
			allowed.add(tool);
			file.note(entry, item, `tools: ${tool}`);
		}
	}
	file.put("tools", [...allowed], entry);
	// A complete list of tools without the one that starts agents means that it may start none.
	const agents = readAgentTools(file, entry, items.filter(isAgentTool));
	file.putSubagents(agents, entry);
	if (agents.length === 0) warnIfNoToolIsLeft(file, entry, items, [...allowed]);
}

/** `mcpServers`: names, or definitions under names, which belong into pi's own file. A list of tools names its servers itself. */
function readServers(file: Rewrite, entry: Entry, hasTools: boolean): void {
	const items = Array.isArray(entry.value) ? entry.value : (splitTools(entry.value) ?? [entry.value]);
	const names = new Set<string>();
	for (const item of items) {
		const defined = mappingEntries(item);
		for (const [name] of defined ?? [[plainText(item)]]) names.add(name);
		for (const [name] of defined ?? [])
			file.reportLoss(entry, `mcpServers.${name}`, "servers are defined only in pi's `mcp.json`: add it there");
	}
	file.note(entry, "mcpServers", hasTools ? undefined : `mcp_servers: ${[...names].join(", ")}`);
	if (!hasTools) file.put("mcp_servers", [...names], entry);
}

function forbid(file: Rewrite, entry: Entry): void {
	const items = keyword(entry.value) === "none" ? [] : splitTools(entry.value);
	if (items === undefined) {
		file.put("disallowed_tools", entry.value, entry);
		return;
	}
	const denied: string[] = [];
	for (const item of items) {
		const { name, inner } = parseToolCall(item);
		if (isAgentTool(item)) {
			file.putSubagents([], entry);
			file.note(entry, item, "subagents: none");
			continue;
		}
		const tool = claudeTools.get(name) ?? (unavailable.has(name) ? undefined : item);
		if (tool === undefined) {
			file.note(entry, item);
			continue;
		}
		denied.push(tool);
		if (inner === undefined) file.note(entry, item, `disallowed_tools: ${tool}`);
		else file.reportLoss(entry, item, `rules for a tool are not supported, so ${quote(tool)} is denied completely`);
	}
	file.deny(denied, entry);
}

/** `permissionMode: plan`. */
export function readPermissionMode(file: Rewrite, entry: Entry): void {
	const mode = typeof entry.value === "string" ? entry.value.trim() : entry.value;
	const from = `${entry.key}: ${typeof mode === "string" ? mode : "…"}`;
	const to = `disallowed_tools: ${writingTools.join(", ")}`;
	if (mode === "plan") {
		file.deny(writingTools, entry);
		file.note(entry, from, to);
	} else if (mode === "dontAsk") {
		file.deny(writingTools, entry);
		file.reportLoss(entry, from, `the pre-approved tools are unknown, so ${writingTools.join(", ")} are denied`);
	} else if (typeof mode === "string" && openModes.includes(mode)) {
		if (mode !== "default") file.reportLoss(entry, from, "it is ignored");
	} else if (mode !== null && mode !== "") {
		const known = [...openModes, "plan", "dontAsk"];
		const hint = typeof mode === "string" ? didYouMeanInline(mode, known) : "";
		file.refuse(entry, `${quote(entry.key)} must be one of ${known.join(", ")}, but is ${quote(mode)}${hint}`);
	}
}

/** `hooks`: a `PreToolUse` hook may exist to block calls, and hooks do not run here, so the tools it matches are denied. */
export function readHooks(file: Rewrite, entry: Entry): void {
	const before = mappingEntries(entry.value)?.find(([event]) => event === "PreToolUse")?.[1];
	const matchers = (Array.isArray(before) ? before : []).map(
		(hook) => mappingEntries(hook)?.find(([key]) => key === "matcher")?.[1],
	);
	const denied = new Set(matchers.flatMap(toolsMatching));
	if (denied.size === 0) {
		file.reportLoss(entry, "hooks", "it is ignored");
		return;
	}
	file.deny([...denied], entry);
	file.reportLoss(entry, "hooks.PreToolUse", `hooks do not run here, so ${[...denied].join(", ")} are denied`);
}

/** `Bash|Edit` are two tools; a pattern, or none, is every tool. */
function toolsMatching(matcher: unknown): readonly string[] {
	if (typeof matcher !== "string" || !/^[\w|() -]+$/.test(matcher)) return allTools;
	return matcher.split("|").flatMap((name) => claudeTools.get(parseToolCall(name.trim()).name) ?? []);
}
