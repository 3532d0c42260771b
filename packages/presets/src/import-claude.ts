/** What the frontmatter of a Claude Code agent means here. */
import type { Rewrite, Translation } from "./import-rewrite.ts";
import { splitItems } from "./items.ts";
import type { Entry } from "./plain.ts";
import { quote } from "./text.ts";

const tools = new Map([
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
// Its own tools without a counterpart; any other unknown name may be an extension's tool and is kept when denied.
const missing = new Set(
	`askuserquestion bashoutput enterplanmode exitplanmode killbash killshell lsp notebookedit sendmessage skill slashcommand
	taskoutput taskstop todoread todowrite webfetch websearch`.split(/\s+/),
);
const noCounterpart = ["mcpServers", "hooks", "background", "initialPrompt"];

/** Rewrites one file. */
export function readClaude(file: Rewrite): Translation {
	for (const entry of file.take("tools")) allow(file, entry);
	for (const entry of file.take("disallowedTools")) forbid(file, entry);
	for (const entry of file.take("permissionMode")) {
		if (entry.value === "plan") {
			file.deny(["edit", "write", "bash"], entry);
			file.note(entry, "permissionMode: plan", "disallowed_tools: edit, write, bash");
		} else if (entry.value !== "default") file.lose(entry, `permissionMode: ${String(entry.value)}`, "it is ignored");
	}
	for (const name of noCounterpart) for (const entry of file.take(name)) file.lose(entry, name, "it is ignored");
	return file.finish();
}

function allow(file: Rewrite, entry: Entry): void {
	const items = splitItems(entry.value);
	if (items === undefined || items.includes("*")) {
		file.put("tools", entry.value, entry);
		return;
	}
	const allowed = new Set<string>();
	const agents = new Set<string>();
	for (const item of items) {
		const { name, inner } = call(item);
		const tool = tools.get(name);
		if (name === "agent" || name === "task") {
			for (const agent of inner === undefined ? ["*"] : (splitItems(inner) ?? [])) agents.add(agent);
			file.note(entry, item, `subagents: ${inner ?? "*"}`);
		} else if (tool === undefined || inner !== undefined) {
			file.lose(
				entry,
				item,
				tool === undefined
					? "the agent goes without it"
					: `rules for a tool are not known, so the agent goes without ${quote(tool)}`,
			);
		} else {
			allowed.add(tool);
			file.note(entry, item, `tools: ${tool}`);
		}
	}
	file.put("tools", [...allowed], entry);
	// A complete list of tools without the one that starts agents means: none.
	file.putSubagents(agents.has("*") ? "*" : [...agents], entry);
}

function forbid(file: Rewrite, entry: Entry): void {
	const items = splitItems(entry.value);
	if (items === undefined) {
		file.put("disallowed_tools", entry.value, entry);
		return;
	}
	const denied: string[] = [];
	for (const item of items) {
		const { name, inner } = call(item);
		if (name === "agent" || name === "task") {
			file.putSubagents([], entry);
			file.note(entry, item, "subagents: none");
			continue;
		}
		const tool = tools.get(name) ?? (missing.has(name) ? undefined : item);
		if (tool === undefined) {
			file.note(entry, item);
			continue;
		}
		denied.push(tool);
		if (inner === undefined) file.note(entry, item, `disallowed_tools: ${tool}`);
		else file.lose(entry, item, `rules for a tool are not known, so ${quote(tool)} is denied altogether`);
	}
	file.deny(denied, entry);
}

/** `Name(inner)` or `Name`. */
function call(item: string): { readonly name: string; readonly inner?: string } {
	const match = /^([^()]*)\((.*)\)$/.exec(item);
	return match === null
		? { name: item.toLowerCase() }
		: { name: (match[1] ?? "").trim().toLowerCase(), inner: match[2] ?? "" };
}
