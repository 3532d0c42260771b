/**
 * How a guard sees an agent that works elsewhere: as if the user's session made the call. Guards read their rules from
 * `ctx.cwd` and take what is outside of it for foreign. Were that the agent's own directory, a model could choose the
 * rules by choosing where an agent works, and a project's rules that git ignores would be missing in a worktree. So a
 * guard gets the session's directory, and a call as pi would have to make it from there; a path in the agent's own
 * worktree is the same path in the checkout that it was made from. Also bundled into a child's process.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

/** Plain JSON: it goes to the child's process. All paths are real ones, but `session` is written as pi has it. */
export interface SessionView {
	/** The directory of the user's session. */
	session: string;
	realSession: string;
	/** Where the agent works. */
	cwd: string;
	/** The agent's own checkout, and the one that it was made from. */
	copy?: { root: string; origin: string };
}

type Input = Record<string, unknown>;

/** Tools of pi that have a path, and whether they work in the agent's directory without one. */
const PATH_TOOLS: ReadonlyMap<string, { isOptional: boolean }> = new Map([
	...["read", "write", "edit"].map((name): [string, { isOptional: boolean }] => [name, { isOptional: false }]),
	...["ls", "grep", "find"].map((name): [string, { isOptional: boolean }] => [name, { isOptional: true }]),
]);

/** The input of a call as the session would have to write it. A copy. */
export function asSession(tool: string, input: Input, view: SessionView): Input {
	const shown = structuredClone(input);
	const { path, command } = shown;
	const { isOptional } = PATH_TOOLS.get(tool) ?? {};
	if (typeof path === "string" && isOptional !== undefined) shown.path = pathSeen(path, view);
	if (path === undefined && isOptional && placeSeen(view) !== "") shown.path = pathSeen(".", view);
	if (typeof command === "string" && isShell(tool)) shown.command = prefixOf(tool, view) + textSeen(command, view);
	return shown;
}

/** Carries over what the guard changed in the copy. */
export function takeChanges(
	tool: string,
	input: Input,
	{ before, after }: { before: Input; after: Input },
	view: SessionView,
): void {
	for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
		const value = after[name];
		if (JSON.stringify(before[name]) === JSON.stringify(value)) continue;
		if (value === undefined) delete input[name];
		else if (name === "path" && typeof value === "string" && PATH_TOOLS.has(tool)) input.path = pathMeant(value, view);
		else if (name === "command" && typeof value === "string" && isShell(tool))
			input.command = commandMeant(tool, value, view);
		else input[name] = value;
	}
}

function isShell(tool: string): boolean {
	return tool === "bash" || tool === "powershell";
}

/** Where the agent works, from the session's directory: empty if it is the same place. */
function placeSeen({ realSession, cwd, copy }: SessionView): string {
	return wayTo(realSession, moved(cwd, copy?.root, copy?.origin));
}

/** Relative if it is inside, else absolute. */
function wayTo(dir: string, path: string): string {
	const way = relative(dir, path);
	return way === ".." || /^\.\.[\\/]/.test(way) || isAbsolute(way) ? path : way;
}

function moved(path: string, from: string | undefined, to: string | undefined): string {
	if (from === undefined || to === undefined) return path;
	const way = wayTo(from, path);
	return isAbsolute(way) ? path : join(to, way);
}

function pathSeen(path: string, view: SessionView): string {
	if (/^[~@]/.test(path)) return path; // pi expands it, from anywhere to the same place
	const way = wayTo(view.realSession, placeOf(resolve(view.cwd, path), view));
	if (isAbsolute(way)) return way;
	return isAbsolute(path) ? join(view.session, way) : way || ".";
}

/** A link in the agent's checkout may not be in the other one, where the guard would look: so it is followed here. */
function placeOf(path: string, { copy }: SessionView): string {
	if (!copy || isAbsolute(wayTo(copy.root, path))) return path;
	const real = realPath(path);
	return isAbsolute(wayTo(copy.root, real)) ? real : moved(path, copy.root, copy.origin);
}

/** Of a path that may not exist yet. */
function realPath(path: string): string {
	if (existsSync(path)) return realpathSync.native(path);
	const parent = dirname(path);
	return parent === path ? path : join(realPath(parent), relative(parent, path));
}

function pathMeant(path: string, { session, realSession, copy }: SessionView): string {
	if (/^[~@]/.test(path)) return path;
	const real = moved(resolve(session, path), session, realSession);
	return moved(real, copy?.origin, copy?.root);
}

/** What a shell in the session's directory would have to do first. It is only shown to guards, and never run. */
function prefixOf(tool: string, view: SessionView): string {
	const place = placeSeen(view);
	if (place === "") return "";
	return tool === "bash"
		? `cd '${place.replaceAll("'", "'\\''")}' && `
		: `Set-Location -LiteralPath '${place.replaceAll("'", "''")}'; `;
}

function textSeen(text: string, { copy }: SessionView): string {
	return copy ? text.replaceAll(copy.root, () => copy.origin) : text;
}

function commandMeant(tool: string, command: string, view: SessionView): string {
	const prefix = prefixOf(tool, view);
	const own = command.startsWith(prefix) ? command.slice(prefix.length) : command;
	const { copy } = view;
	return copy ? own.replaceAll(copy.origin, () => copy.root) : own;
}
