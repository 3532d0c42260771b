/** What the frontmatter of an OpenCode agent means here. */
import type { Rewrite, Translation } from "./import-rewrite.ts";
import type { Entry } from "./plain.ts";
import { cut, oneLine, quote } from "./text.ts";

const tools = new Map([
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
const every = [...new Set([...tools.values()].flat())];
const noCounterpart = ["temperature", "top_p", "hidden", "options"];

/** Rewrites one file. */
export function readOpencode(file: Rewrite): Translation {
	for (const entry of file.take("mode")) {
		file.note(entry, `mode: ${String(entry.value)}`, entry.value === "primary" ? "enabled: false" : undefined);
		if (entry.value === "primary") file.disable(entry); // it is made to talk to people, not to be called
	}
	for (const entry of file.take("disable")) {
		if (entry.value === false) continue;
		file.disable(entry);
		file.note(entry, `disable: ${String(entry.value)}`, "enabled: false");
	}
	for (const entry of file.take("tools")) readSwitches(file, entry);
	for (const entry of file.take("permission")) readPermission(file, entry);
	for (const name of noCounterpart) for (const entry of file.take(name)) file.lose(entry, name, "it is ignored");
	return file.finish();
}

/** `tools: { write: false }`: what is not named stays allowed. */
function readSwitches(file: Rewrite, entry: Entry): void {
	const pairs = mapping(entry.value);
	if (pairs === undefined || pairs.some(([, on]) => typeof on !== "boolean")) {
		file.put("tools", entry.value, entry);
		return;
	}
	for (const [name, on] of pairs) {
		if (name === "task") {
			file.putSubagents(on === true ? "*" : [], entry);
			file.note(entry, `task: ${String(on)}`, `subagents: ${on === true ? "*" : "none"}`);
		} else if (on === false && name !== "*") refuse(file, entry, name, `${name}: false`);
	}
	if (!pairs.some(([name, on]) => name === "*" && on === false)) return;
	// Everything is off except what is switched on: a list of allowed tools says that best.
	const allowed = pairs.flatMap(([name, on]) => (on === true ? (tools.get(name) ?? []) : []));
	file.put("tools", [...new Set(allowed)], entry);
	file.note(entry, '"*": false', `tools: ${allowed.join(", ") || "none"}`);
}

/** `permission: { edit: deny, bash: ask, task: {...} }`. Nobody can be asked here, so `ask` is a refusal. */
function readPermission(file: Rewrite, entry: Entry): void {
	const pairs = typeof entry.value === "string" ? ([["*", entry.value]] as const) : mapping(entry.value);
	if (pairs === undefined) {
		file.deny(every, entry);
		file.lose(entry, "permission", "it cannot be read, so the agent goes without the usual tools");
		return;
	}
	const others = pairs.filter(([name]) => name !== "*" && name !== "task");
	if (pairs.some(([name, rule]) => name === "*" && !isAllowed(rule))) {
		const allowed = new Set(others.flatMap(([name, rule]) => (isAllowed(rule) ? opened(name) : [])));
		const denied = every.filter((tool) => !allowed.has(tool));
		file.deny(denied, entry);
		file.note(entry, "permission.*", `disallowed_tools: ${denied.join(", ")}`);
	}
	for (const [name, rule] of pairs) {
		if (name === "*") continue;
		if (name === "task") readTask(file, entry, rule);
		else if (!isAllowed(rule))
			refuse(file, entry, name, `permission.${name}: ${typeof rule === "string" ? rule : "rules"}`);
	}
}

function refuse(file: Rewrite, entry: Entry, name: string, from: string): void {
	const denied = opened(name);
	file.deny(denied, entry);
	if (denied.length === 0) file.note(entry, from);
	else if (/deny$|false$/.test(from)) file.note(entry, from, `disallowed_tools: ${denied.join(", ")}`);
	else file.lose(entry, from, `nobody can be asked, so ${quote(name)} is denied altogether`);
}

/** Our tools behind one of its names. Its permission to edit covers writing. */
function opened(name: string): readonly string[] {
	return name === "edit" ? ["edit", "write"] : (tools.get(name) ?? []);
}

/** `task: { "*": deny, explore: allow }`. */
function readTask(file: Rewrite, entry: Entry, rule: unknown): void {
	const rules = mapping(rule) ?? [["*", rule]];
	const allowed = rules.filter(([, answer]) => answer === "allow").map(([name]) => name);
	const isOpen = allowed.includes("*");
	if (isOpen && allowed.length === rules.length) {
		file.putSubagents("*", entry);
		file.note(entry, "permission.task", "subagents: *");
		return;
	}
	const names = isOpen ? [] : allowed.filter((name) => !name.includes("*"));
	file.putSubagents(names, entry);
	const from = `permission.task: ${rules.map(([name, answer]) => `${name}=${String(answer)}`).join(", ")}`;
	if (!isOpen && names.length === allowed.length) file.note(entry, from, `subagents: ${names.join(", ") || "none"}`);
	else file.lose(entry, from, "patterns are not known, so only the names that it allows are kept");
}

function isAllowed(rule: unknown): boolean {
	if (rule === "allow") return true;
	const rules = mapping(rule);
	return rules !== undefined && rules.length > 0 && rules.every(([, answer]) => answer === "allow");
}

function mapping(value: unknown): [string, unknown][] | undefined {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
	return Object.entries(value).map(([name, each]) => [cut(oneLine(name), 60), each]);
}
