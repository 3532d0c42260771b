/** Finds the files behind a source: reads directories, walks up to the project's root, opens package manifests. */
import { type Dirent, readdir, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { ParseResult, Problem } from "./preset.ts";
import { readSmallFile } from "./read-file.ts";
import type { Source } from "./sources.ts";
import { cut, oneLine } from "./text.ts";

/** One place that holds presets. */
export interface Listing {
	readonly from: Source;
	/** Files of one directory, sorted by name; or texts that are there already. */
	readonly files: readonly ListedFile[];
}

/** A file to read; `text` when there is nothing to read, and `result` when there is nothing to parse. */
export interface ListedFile {
	readonly path: string;
	readonly isRegular: boolean;
	readonly isLink: boolean;
	readonly text?: string;
	readonly result?: ParseResult;
}

/** Where to start looking. */
export interface Places {
	readonly cwd: string;
	readonly agentDir: string;
}

const maxFiles = 20_000;
const maxManifestBytes = 1024 * 1024;

/**
 * The nearest ancestor of `cwd` (or `cwd` itself) that holds preset files in `folder`. A folder without any `.md` file
 * does not count, since runs keep their artifacts below `.pi/subagents` as well. Nor does one of another user, unless
 * that one owns `cwd` too: above it may be places where everybody can leave something.
 *
 * @example
 * await findPresetRoot("/repo/packages/app"); // "/repo" when /repo/.pi/subagents/scout.md exists
 */
export async function findPresetRoot(
	cwd: string,
	folder: string = join(".pi", "subagents"),
): Promise<string | undefined> {
	return (await nearest(resolve(cwd), folder, [])).root;
}

/** Whether a directory holds files that could be presets. */
export async function hasPresetFiles(directory: string): Promise<boolean> {
	return (await list(directory, [])).some(mayBeFile);
}

/** The listings of one source, lowest precedence first. */
export async function locate(source: Source, places: Places, problems: Problem[]): Promise<Listing[]> {
	switch (source.type) {
		case "directory":
			return [{ from: source, files: await list(source.path, problems) }];
		case "file":
			return [{ from: source, files: [{ path: source.path, isRegular: false, isLink: false }] }];
		case "agent directory":
			return [{ from: source, files: await list(join(places.agentDir, source.folder), problems) }];
		case "nearest": {
			const { root, files } = await nearest(resolve(places.cwd), source.folder, problems);
			return root === undefined ? [] : [{ from: source, files }];
		}
		case "manifests": {
			const listings = await Promise.all(source.paths.map((path) => locateShipped(path, problems)));
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
): Promise<{ root?: string; files: ListedFile[] }> {
	for (let root = cwd; ; root = dirname(root)) {
		const files = await list(join(root, folder), problems);
		if (files.some(mayBeFile) && (await mayDecide(join(root, folder), cwd, problems))) return { root, files };
		if (dirname(root) === root) return { files: [] };
	}
}

const SUPER_USER = 0;

/** Whether a directory belongs to who may say what agents do in `cwd`: this user, the super-user, or whose `cwd` is. */
async function mayDecide(directory: string, cwd: string, problems: Problem[]): Promise<boolean> {
	const ownUser = process.getuid?.();
	if (ownUser === undefined) return true; // a system without such owners
	const uidOf = async (path: string) => (await stat(path).catch(() => undefined))?.uid; // gone in the meantime
	const owner = await uidOf(directory);
	if (owner === ownUser || owner === SUPER_USER || owner === (await uidOf(cwd))) return true;
	const message = "belongs to another user than the project, so it is not used: remove it, or change its owner";
	problems.push({ path: directory, severity: "error", message });
	return false;
}

/** The `.md` entries of a directory in a fixed order. A directory that is not there holds none. */
function list(directory: string, problems: Problem[]): Promise<ListedFile[]> {
	if (isMissing(directory)) return Promise.resolve([]);
	return new Promise((done) => {
		readdir(directory, { withFileTypes: true }, (error, entries) => {
			if (error) {
				if (error.code !== "ENOENT" && error.code !== "ENOTDIR") problems.push(unreadable(directory, error));
				return done([]);
			}
			const found = entries.filter(({ name }) => /\.md$/i.test(name)).sort(byName);
			if (found.length > maxFiles) {
				const message = `the directory holds ${found.length} presets: only the first ${maxFiles} are read`;
				problems.push({ path: directory, severity: "error", message });
			}
			done(found.slice(0, maxFiles).map((entry) => listed(directory, entry)));
		});
	});
}

/** Most places where presets may be are not there. To see that at once takes a hundredth of what asking and waiting does. */
function isMissing(directory: string): boolean {
	try {
		return statSync(directory, { throwIfNoEntry: false }) === undefined;
	} catch {
		return false; // whoever reads it says what is wrong
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
	return { path, severity: "error", message: `cannot be read (${error.code ?? error.message}): check its permissions` };
}

/** What `pi.subagents`, or `pi-subagents`, of a package manifest names. Paths may not leave the package. */
async function locateShipped(manifest: string, problems: Problem[]): Promise<ListedFile[]> {
	const report = (message: string) => problems.push({ path: manifest, severity: "error", message });
	const read = await readSmallFile(manifest, { maxBytes: maxManifestBytes, isRegular: false });
	if (read.type !== "text") {
		report(read.type === "unusable" ? read.message : "the package manifest is not there");
		return [];
	}
	const root = dirname(resolve(manifest));
	const files: ListedFile[] = [];
	for (const named of shippedPaths(read.text, report)) {
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
		else files.push(...(await list(path, problems)));
	}
	return files;
}

function shippedPaths(text: string, report: (message: string) => void): string[] {
	try {
		const manifest: { pi?: { subagents?: unknown }; "pi-subagents"?: unknown } | null = JSON.parse(text);
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
