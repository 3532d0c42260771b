/** Lists the files of a source: reads directories, walks up to the project root, reads package manifests. */
import { type Dirent, lstatSync, readdir, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { ParseResult, Problem } from "../model/preset.ts";
import { cut, oneLine } from "../model/text.ts";
import { readSmallFile } from "./read-file.ts";
import type { Source } from "./sources.ts";

/** The files of one directory or package. */
export interface Listing {
	readonly from: Source;
	/** Sorted by name. */
	readonly files: readonly ListedFile[];
}

/** A file to read. With `text` it need not be read, with `result` it need not be parsed. */
export interface ListedFile {
	readonly path: string;
	readonly isRegular: boolean;
	readonly isLink: boolean;
	/** Whether it is in a sub-folder. */
	readonly isNested?: boolean;
	readonly text?: string;
	readonly result?: ParseResult;
}

/** Where to start searching. */
export interface SearchRoots {
	readonly cwd: string;
	readonly agentDir: string;
}

const maxFiles = 20_000;
const maxManifestBytes = 1024 * 1024;

/**
 * The nearest ancestor of `cwd` (or `cwd` itself) with preset files in `folder`. A folder without any `.md` file does not
 * count, because `.pi/subagents` also holds the files of runs. A folder of another user does not count either, unless that
 * user also owns `cwd`: directories above it may be writable by anyone, such as `/tmp`.
 *
 * @example
 * await findPresetRoot("/repo/packages/app"); // "/repo" when /repo/.pi/subagents/scout.md exists
 */
export async function findPresetRoot(
	cwd: string,
	folder: string = join(".pi", "subagents"),
): Promise<string | undefined> {
	return (await nearest(resolve(cwd), folder, [], { isRecursive: basename(folder) !== "subagents" })).root;
}

/** Whether a directory contains files that could be presets. */
export async function hasPresetFiles(directory: string): Promise<boolean> {
	return (await list(directory, [], { isRecursive: true })).some(mayBeFile);
}

/** The listings of one source, lowest precedence first. */
export async function locate(source: Source, roots: SearchRoots, problems: Problem[]): Promise<Listing[]> {
	// Claude Code and others read sub-folders. Those of `subagents` directories contain runs.
	const how = { isRecursive: source.source.flavour !== "subagents" };
	switch (source.type) {
		case "directory":
			return [{ from: source, files: await list(source.path, problems, how) }];
		case "file":
			return [{ from: source, files: [{ path: source.path, isRegular: false, isLink: false }] }];
		case "agent directory":
			return [{ from: source, files: await list(join(roots.agentDir, source.folder), problems, how) }];
		case "nearest": {
			const { root, files } = await nearest(resolve(roots.cwd), source.folder, problems, how);
			return root === undefined ? [] : [{ from: source, files }];
		}
		case "manifests": {
			const listings = await Promise.all(source.paths.map((path) => locateShipped(path, problems, source.only)));
			return listings.map((files) => ({ from: source, files }));
		}
		case "texts":
			return [{ from: source, files: source.files.map((file) => ({ ...file, isRegular: true, isLink: false })) }];
		default:
			throw new Error(`unknown source: ${JSON.stringify(source satisfies never)}`);
	}
}

async function nearest(
	cwd: string,
	folder: string,
	problems: Problem[],
	how: ListOptions,
): Promise<{ root?: string; files: ListedFile[] }> {
	for (let root = cwd; ; root = dirname(root)) {
		const files = await list(join(root, folder), problems, how);
		if (files.some(mayBeFile) && (await hasTrustedOwner(join(root, folder), cwd, problems))) return { root, files };
		if (dirname(root) === root) return { files: [] };
	}
}

const ROOT_UID = 0;

/** Whether a directory belongs to this user, to root or to the owner of `cwd`: only they may configure agents there. */
async function hasTrustedOwner(directory: string, cwd: string, problems: Problem[]): Promise<boolean> {
	const ownUser = process.getuid?.();
	if (ownUser === undefined) return true; // a system without user ids
	const uidOf = async (path: string) => (await stat(path).catch(() => undefined))?.uid; // removed meanwhile
	const owner = await uidOf(directory);
	if (owner === ownUser || owner === ROOT_UID || owner === (await uidOf(cwd))) return true;
	const message = "is ignored because it belongs to a different user than the project: remove it, or change its owner";
	problems.push({ path: directory, severity: "error", message });
	return false;
}

interface ListOptions {
	/** Whether sub-folders are read as well. */
	readonly isRecursive: boolean;
}

/** Links to directories are not followed, so there are no cycles. */
const maxDepth = 8;

/** The `.md` entries of a directory, sorted, those of sub-folders last. A missing directory has none. */
async function list(directory: string, problems: Problem[], { isRecursive }: ListOptions): Promise<ListedFile[]> {
	if (isMissing(directory)) return [];
	const files: ListedFile[] = [];
	await walk(directory, files, problems, isRecursive ? maxDepth : 0, false);
	if (files.length <= maxFiles) return files;
	const message = `the directory has ${isRecursive ? `more than ${maxFiles}` : files.length} presets: only the first ${maxFiles} are read`;
	problems.push({ path: directory, severity: "error", message });
	return files.slice(0, maxFiles);
}

async function walk(
	directory: string,
	files: ListedFile[],
	problems: Problem[],
	levels: number,
	isNested: boolean,
): Promise<void> {
	const entries = await entriesOf(directory, problems);
	for (const entry of entries) {
		if (!/\.md$/i.test(entry.name) || (isNested && entry.isDirectory())) continue;
		files.push(isNested ? { ...listed(directory, entry), isNested } : listed(directory, entry));
	}
	if (levels === 0) return;
	for (const entry of entries) {
		if (files.length > maxFiles) return;
		if (!entry.isDirectory() || /^\.|^node_modules$/.test(entry.name)) continue;
		await walk(directory + sep + entry.name, files, problems, levels - 1, true);
	}
}

function entriesOf(directory: string, problems: Problem[]): Promise<Dirent[]> {
	return new Promise((done) => {
		readdir(directory, { withFileTypes: true }, (error, entries) => {
			if (error && error.code !== "ENOENT" && error.code !== "ENOTDIR") problems.push(unreadable(directory, error));
			done(error ? [] : entries.sort(byName));
		});
	});
}

/** Most directories that may contain presets do not exist. Checking that synchronously takes a hundredth of the time. */
function isMissing(directory: string): boolean {
	try {
		return statSync(directory, { throwIfNoEntry: false }) === undefined;
	} catch {
		return false; // reading it reports what is wrong
	}
}

/** Whether something has this name, be it a link that leads nowhere. */
function isEntry(path: string): boolean {
	try {
		return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code !== "ENOTDIR"; // any other error is reported when it is read
	}
}

function listed(directory: string, entry: Dirent): ListedFile {
	return { path: directory + sep + entry.name, isRegular: entry.isFile(), isLink: entry.isSymbolicLink() };
}

function mayBeFile({ isRegular, isLink }: ListedFile): boolean {
	return isRegular || isLink;
}

function byName(a: Dirent, b: Dirent): number {
	return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function unreadable(path: string, error: NodeJS.ErrnoException): Problem {
	const isShortage = error.code === "EMFILE" || error.code === "ENFILE";
	const advice = isShortage ? "too many files are open; try again later" : "check its permissions";
	return { path, severity: "error", message: `cannot be read (${error.code ?? error.message}): ${advice}` };
}

/** The files that `pi.subagents` or `pi-subagents` of a package manifest names. Paths must stay inside the package. */
async function locateShipped(
	manifest: string,
	problems: Problem[],
	only: readonly string[] | undefined,
): Promise<ListedFile[]> {
	const report = (message: string) => problems.push({ path: manifest, severity: "error", message });
	const read = isEntry(manifest)
		? readSmallFile(manifest, { maxBytes: maxManifestBytes, isRegular: false })
		: ({ type: "gone" } as const);
	if (read.type !== "text") {
		report(read.type === "unusable" ? read.message : "the package manifest does not exist");
		return [];
	}
	const root = dirname(resolve(manifest));
	const files: ListedFile[] = [];
	for (const named of shippedPaths(read.text, report, only)) {
		const path = resolve(root, named.replace(/[\\/]\*(?:\*[\\/]\*)?\.md$/, ""));
		const inside = relative(root, path);
		if (
			named.includes("\u0000") ||
			isAbsolute(named) ||
			isAbsolute(inside) ||
			inside === ".." ||
			inside.startsWith(`..${sep}`)
		) {
			report(`"pi.subagents" names "${cut(oneLine(named), 100)}", which is outside the package: move it inside`);
		} else if (/\.md$/i.test(path)) files.push({ path, isRegular: false, isLink: false });
		else files.push(...(await list(path, problems, { isRecursive: named.includes("**") })));
	}
	return files;
}

function shippedPaths(text: string, report: (message: string) => void, only: readonly string[] | undefined): string[] {
	try {
		const manifest: { name?: unknown; pi?: { subagents?: unknown }; "pi-subagents"?: unknown } | null =
			JSON.parse(text);
		if (only !== undefined && !only.includes(String(manifest?.name))) return [];
		const named: unknown = manifest?.pi?.subagents ?? manifest?.["pi-subagents"] ?? [];
		// Packages for other extensions wrap the list: `{ "agents": [...] }`.
		const listed: unknown = Array.isArray(named) ? named : ((named as { agents?: unknown }).agents ?? named);
		const paths: unknown = typeof listed === "string" ? [listed] : listed;
		if (Array.isArray(paths) && paths.every((path) => typeof path === "string")) return paths;
		report('"pi.subagents" must be a list of directories or `.md` files');
	} catch (error) {
		report(
			`the package manifest is not JSON (${error instanceof Error ? cut(oneLine(error.message), 200) : "unknown"})`,
		);
	}
	return [];
}
