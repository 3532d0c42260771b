/**
 * What the frontmatter of an OpenCode agent means here, including `permission`, which other programs copied from it.
 * An agent here cannot ask the user for permission, so what would ask is denied.
 */

import type { Entry } from "../frontmatter/simple-frontmatter.ts";
import { mappingEntries } from "../model/items.ts";
import { plainText, quote } from "../model/text.ts";
import type { Rewrite } from "./rewrite.ts";

/** OpenCode's names for our tools. */
const opencodeTools = new Map([
	["read", ["read"]],
	["grep", ["grep"]],
	["glob", ["find"]],
	["list", ["ls"]],
	["bash", ["bash"]],
	["edit", ["edit"]],
	["write", ["write"]],
	["patch", ["edit"]],
	["multiedit", ["edit"]],
]);
const allTools = [...new Set([...opencodeTools.values()].flat())];
const noCounterpart = ["temperature", "top_p", "hidden", "options"];

export function readOpencode(file: Rewrite): void {
	for (const entry of file.take("mode")) {
		file.note(entry, `mode: ${plainText(entry.value)}`, entry.value === "primary" ? "enabled: false" : undefined);
		if (entry.value === "primary") file.disable(entry); // it is made to talk to the user, not to be started by an agent
	}
	for (const entry of file.take("tools")) readSwitches(file, entry);
	for (const name of noCounterpart) for (const entry of file.take(name)) file.reportLoss(entry, name, "it is ignored");
}

/** `tools: { write: false }`: tools that are not named stay allowed. */
function readSwitches(file: Rewrite, entry: Entry): void {
	const pairs = mappingEntries(entry.value);
	if (pairs === undefined || pairs.some(([, on]) => typeof on !== "boolean")) {
		file.put("tools", entry.value, entry);
		return;
	}
	for (const [name, on] of pairs) {
		if (name === "task") {
			file.putSubagents(on === true ? "*" : [], entry);
			file.note(entry, `task: ${String(on)}`, `subagents: ${on === true ? "*" : "none"}`);
		} else if (on === false && name !== "*") denyTool(file, entry, name, `${name}: false`);
	}
	if (!pairs.some(([name, on]) => name === "*" && on === false)) return;
	// Everything is off except what is switched on, which is a list of allowed tools.
	const allowed = pairs.flatMap(([name, on]) => (on === true ? (opencodeTools.get(name) ?? []) : []));
	file.put("tools", [...new Set(allowed)], entry);
	file.note(entry, '"*": false', `tools: ${allowed.join(", ") || "none"}`);
}

/** `permission: { edit: deny, bash: ask, task: {...} }`. */
export function readPermission(file: Rewrite, entry: Entry): void {
	const words = ["allow", "ask", "deny"];
	const pairs =
		typeof entry.value === "string"
			? words.includes(entry.value)
				? ([["*", entry.value]] as const)
				: undefined
			: mappingEntries(entry.value);
	if (pairs === undefined) {
		if (entry.value === null || entry.value === "") return;
		const message = `${quote(entry.key)} must say allow, ask or deny for each tool, but is ${quote(entry.value)}`;
		file.refuse(entry, message);
		return;
	}
	const others = pairs.filter(([name]) => name !== "*" && name !== "task");
	if (pairs.some(([name, rule]) => name === "*" && !isAllowed(rule))) {
		const allowed = new Set(others.flatMap(([name, rule]) => (isAllowed(rule) ? toolsNamed(name) : [])));
		const denied = allTools.filter((tool) => !allowed.has(tool));
		file.deny(denied, entry);
		file.note(entry, `${entry.key}.*`, `disallowed_tools: ${denied.join(", ")}`);
	}
	for (const [name, rule] of pairs) {
		if (name === "*") continue;
		if (name === "task") readTask(file, entry, rule);
		else if (!isAllowed(rule))
			denyTool(file, entry, name, `${entry.key}.${name}: ${typeof rule === "string" ? rule : "rules"}`);
	}
}

/** Denies the tools behind one of OpenCode's names. */
function denyTool(file: Rewrite, entry: Entry, name: string, from: string): void {
	const denied = toolsNamed(name);
	file.deny(denied, entry);
	if (denied.length === 0) file.note(entry, from);
	else if (/deny$|false$/.test(from)) file.note(entry, from, `disallowed_tools: ${denied.join(", ")}`);
	else file.reportLoss(entry, from, `the user cannot be asked, so ${quote(name)} is denied completely`);
}

/** Our tools behind one of OpenCode's names. Its permission to edit covers writing. */
function toolsNamed(name: string): readonly string[] {
	return name === "edit" ? ["edit", "write"] : (opencodeTools.get(name) ?? []);
}

/** `task: { "*": deny, explore: allow }`. */
function readTask(file: Rewrite, entry: Entry, rule: unknown): void {
	const rules = mappingEntries(rule) ?? [["*", rule]];
	const allowed = rules.filter(([, answer]) => answer === "allow").map(([name]) => name);
	const isOpen = allowed.includes("*");
	if (isOpen && allowed.length === rules.length) {
		file.putSubagents("*", entry);
		file.note(entry, `${entry.key}.task`, "subagents: *");
		return;
	}
	const names = isOpen ? [] : allowed.filter((name) => !name.includes("*"));
	file.putSubagents(names, entry);
	const from = `${entry.key}.task: ${rules.map(([name, answer]) => `${name}=${plainText(answer)}`).join(", ")}`;
	if (!isOpen && names.length === allowed.length) file.note(entry, from, `subagents: ${names.join(", ") || "none"}`);
	else file.reportLoss(entry, from, "patterns are not supported, so only the names that it allows are kept");
}

function isAllowed(rule: unknown): boolean {
	if (rule === "allow") return true;
	const rules = mappingEntries(rule);
	return rules !== undefined && rules.length > 0 && rules.every(([, answer]) => answer === "allow");
}
