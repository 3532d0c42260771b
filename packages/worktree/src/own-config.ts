/**
 * What a repository's own configuration could make git run or contact. It comes with the repository, so a stranger
 * may have written it; unless the user agrees, these settings are replaced by the user's own or disabled. The user's
 * global and system settings always stay.
 */
import { createHash } from "node:crypto";
import { AgentError } from "@pi-subagents/core";
import { sanitize } from "@pi-subagents/progress";
import type { Git, GitOptions } from "./git.ts";

/** The settings of a repository that git may use: all, or those with these marks. */
export type Allowed = "*" | readonly string[];

/** What is allowed in the repository with this checkout root. */
export type Allows = (main: string) => Allowed;

/** How one git call treats a repository's own settings. */
export interface OwnSettings {
	/** Overrides, by name. */
	config: Readonly<Record<string, string>>;
	/** Whether git may contact another machine or repository. */
	reachesOut: boolean;
}

export interface Setting {
	/** As git writes it: section and variable in lower case. */
	name: string;
	value: string;
}

interface Settings {
	/** The repository's: `.git/config`, `config.worktree`, and what they include. */
	own: readonly Setting[];
	/** The user's and the machine's; the last one counts. */
	users: ReadonlyMap<string, string>;
}

/** The repository needs its own settings that would run or contact something. */
export class NeedsOwnSettings extends AgentError {
	/** The root of the checkout. */
	readonly main: string;
	readonly settings: readonly Setting[];

	constructor(main: string, settings: readonly Setting[]) {
		const names = settings.map(({ name }) => sanitize(name)).join(", ");
		super(
			"no_worktree",
			`The files of ${main} need ${names}, which the repository's own git configuration sets. Such a setting runs a program or contacts a server, so it counts only in a project that you trust: the user can store that with /trust there, or move the setting to their own git configuration.`,
		);
		this.main = main;
		this.settings = settings;
	}
}

/** Identifies one setting with its value. */
export function markOf({ name, value }: Setting): string {
	return createHash("sha256").update(`${name}\n${value}`).digest("hex");
}

/** All settings, each with the file it comes from: the repository's or the user's. */
export const LIST_SETTINGS: readonly string[] = ["config", "--list", "--null", "--show-scope"];

export async function readSettings(git: Git, options: GitOptions): Promise<Settings> {
	const { cwd, gitDir, signal, timeoutMs } = options;
	const listed = await git(LIST_SETTINGS, { cwd, gitDir, signal, timeoutMs });
	const fields = listed.split("\0");
	const own: Setting[] = [];
	const users = new Map<string, string>();
	for (let at = 0; at + 1 < fields.length; at += 2) {
		const [scope, entry = ""] = [fields[at], fields[at + 1]];
		const end = entry.indexOf("\n");
		const [name, value] = end < 0 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
		if (scope === "local" || scope === "worktree") own.push({ name, value });
		else if (scope === "global" || scope === "system") users.set(name, value);
	}
	return { own, users };
}

/** The value that counts; undefined if nobody sets it. */
export function settingOf({ own, users }: Settings, name: string): string | undefined {
	return own.findLast((setting) => setting.name === name)?.value ?? users.get(name);
}

/** For settings that name a program: the replacement if the user has none. */
const DISARMED: readonly [RegExp, string][] = [
	[/^filter\..+\.(?:clean|smudge|process)$/s, ""],
	[/^filter\..+\.required$/s, "false"],
	// A failing driver leaves a conflict; an empty one would drop the agent's changes.
	[/^merge\..+\.driver$/s, "false"],
	[/^lfs\.extension\..+\.(?:clean|smudge)$/s, "false"],
	[/^core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand|virtualfilesystem)$/, ""],
	[/^core\.protect(?:hfs|ntfs)$/, "true"],
];

/** Settings with which a partial clone fetches missing objects. */
const PROMISES = /^(?:extensions\.partialclone|remote\..+\.(?:promisor|partialclonefilter))$/s;
const CONTACTS =
	/^(?:remote\..+\.(?:url|vcs|uploadpack|proxy)|core\.(?:sshcommand|gitproxy|askpass)|ssh\.|credential\.|http\.|url\.|protocol\.)/s;

export function ownSettings({ own, users }: Settings, allowed: Allowed): OwnSettings {
	if (allowed === "*") return { config: {}, reachesOut: true };
	const config: Record<string, string> = {};
	for (const setting of own.filter((each) => !isAllowed(each, allowed))) {
		const { name } = setting;
		const hook = /^hook\.(.+)\.[^.]+$/s.exec(name)?.[1]; // newer gits also read hooks from the configuration
		if (hook !== undefined) config[`hook.${hook}.enabled`] = "false";
		const disarmed = DISARMED.find(([pattern]) => pattern.test(name))?.[1];
		if (disarmed !== undefined) config[name] = users.get(name) ?? disarmed;
	}
	const reaching = promises({ own });
	return { config, reachesOut: reaching.length > 0 && reaching.every((each) => isAllowed(each, allowed)) };
}

function isAllowed(setting: Setting, allowed: Allowed): boolean {
	return allowed === "*" || allowed.includes(markOf(setting));
}

/** All settings that decide where and how a partial clone fetches. Empty for other repositories. */
function promises({ own }: Pick<Settings, "own">): Setting[] {
	return own.some(({ name }) => PROMISES.test(name))
		? own.filter(({ name }) => PROMISES.test(name) || CONTACTS.test(name))
		: [];
}

/** The settings of each filter that only the repository defines and that is not allowed. */
function disarmedFilters({ own, users }: Settings, allowed: Allowed): Map<string, Setting[]> {
	const usersFilters = new Set([...users.keys()].flatMap((name) => filterOf(name) ?? []));
	const filters = new Map<string, Setting[]>();
	for (const setting of own) {
		const filter = filterOf(setting.name);
		if (filter === undefined || setting.value === "" || isAllowed(setting, allowed)) continue;
		// An empty `process` does not restore the user's `clean` and `smudge`.
		const isReplaced = setting.name.endsWith(".process") ? users.has(setting.name) : usersFilters.has(filter);
		if (isReplaced && setting.name.startsWith("filter.")) continue;
		filters.set(filter, [...(filters.get(filter) ?? []), setting]);
	}
	return filters;
}

function filterOf(name: string): string | undefined {
	if (/^lfs\.extension\..+\.(?:clean|smudge)$/s.test(name)) return "lfs";
	return /^filter\.(.+)\.(?:clean|smudge|process)$/s.exec(name)?.[1];
}

export interface Checked extends Pick<GitOptions, "cwd" | "gitDir" | "index" | "signal"> {
	/** The files are those of the index; with this, also those on disk. */
	isOnDisk?: boolean;
	/** The user's checkout. */
	main: string;
	allowed: Allowed;
	/** Fills the index, if there is anything to check. */
	prepare?: () => Promise<unknown>;
}

/** Throws `NeedsOwnSettings` if a file uses a filter that only the repository defines. */
export async function checkFilters(git: Git, checked: Checked): Promise<void> {
	const { isOnDisk = false, main, allowed, prepare, ...options } = checked;
	if (allowed === "*") return;
	const filters = disarmedFilters(await readSettings(git, options), allowed);
	if (filters.size === 0) return;
	await prepare?.();
	const which = isOnDisk ? ["--cached", "--others", "--exclude-standard"] : ["--cached"];
	const paths = await git(["ls-files", "-z", ...which], options);
	const how = isOnDisk ? [] : ["--cached"];
	const input = paths.endsWith("\0") || paths === "" ? paths : `${paths}\0`;
	const found = (await git(["check-attr", ...how, "-z", "--stdin", "filter"], { ...options, input })).split("\0");
	const named = new Set(found.filter((_, at) => at % 3 === 2));
	const needed = [...filters].flatMap(([filter, settings]) => (named.has(filter) ? settings : []));
	if (needed.length > 0) throw new NeedsOwnSettings(main, needed);
}

/** Throws `NeedsOwnSettings` if objects of the tree would have to be fetched. */
export async function checkObjects(
	git: Git,
	{ tree, main, allowed, ...options }: Omit<Checked, "isOnDisk" | "prepare" | "index"> & { tree: string },
): Promise<void> {
	if (allowed === "*") return;
	const needed = promises(await readSettings(git, options)).filter((setting) => !isAllowed(setting, allowed));
	if (needed.length === 0) return;
	const listed = await git(["rev-list", "--objects", "--no-object-names", "--missing=print", tree], options);
	if (listed.startsWith("?") || listed.includes("\n?")) throw new NeedsOwnSettings(main, needed);
}
