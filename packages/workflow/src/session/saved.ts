/**
 * Saved workflows: `*.js` files of the project, the user and installed packages. Those of a project count only if the
 * user's trust in it is stored: a script decides what agents are asked to do.
 */
import { dirname, join, resolve } from "node:path";
import { AgentError, nearest } from "@pi-subagents/core";
import { isObject, messageOf, nameKey, quoted } from "@pi-subagents/core/internal/base";
import { isWithin, leadsInto, namesIn, readSmallFile } from "@pi-subagents/core/internal/files";
import type { StoredTrust } from "@pi-subagents/launch";
import type { Meta } from "../script/meta.ts";
import { checkScript } from "../script/script.ts";

export interface SavedWorkflow extends Meta {
	path: string;
	source: string;
	from: "project" | "user" | "package";
}

export interface SavedWorkflows {
	/** The first of a name counts: project, user, package. */
	workflows: SavedWorkflow[];
	/** Files that cannot be used, and why. */
	problems: string[];
}

export interface SavedPlaces {
	cwd: string;
	agentDir: string;
	trust: StoredTrust;
	/** `package.json` files of installed packages. */
	manifests: readonly string[];
}

interface WorkflowFolder {
	root: string;
	dir: string;
	from: SavedWorkflow["from"];
}

const IN_PROJECT = [join(".pi", "workflows"), join(".agents", "workflows")];

export async function savedWorkflows(places: SavedPlaces): Promise<SavedWorkflows> {
	const { cwd, agentDir, trust } = places;
	const problems: string[] = [];
	const project = IN_PROJECT.map((folder): WorkflowFolder => ({ root: cwd, dir: join(cwd, folder), from: "project" }));
	const own: WorkflowFolder = { root: agentDir, dir: join(agentDir, "workflows"), from: "user" };
	const shipped = (await Promise.all(places.manifests.map((path) => shippedBy(path, problems)))).flat();
	const found: SavedWorkflow[] = [];
	for (const place of [...project, own, ...shipped]) {
		const names = (await namesIn(place.dir)).filter((name) => name.endsWith(".js")).sort();
		if (names.length === 0) continue;
		if (place.from === "project" && trust !== "yes") {
			problems.push(`${place.dir}: its workflows are used only if you trust this project: use /trust.`);
			continue;
		}
		for (const name of names) {
			const saved = await read(join(place.dir, name), place, problems);
			if (saved && !found.some((each) => nameKey(each.name) === nameKey(saved.name))) found.push(saved);
		}
	}
	return { workflows: found, problems };
}

/** By its name or that of its file. Throws an error that lists the known ones. */
export async function findSaved(wanted: string, places: SavedPlaces): Promise<SavedWorkflow> {
	const { workflows, problems } = await savedWorkflows(places);
	const key = nameKey(wanted);
	const saved = workflows.find(({ name, path }) => nameKey(name) === key || path.endsWith(`/${wanted}.js`));
	if (saved) return saved;
	const names = workflows.map(({ name }) => name);
	const hint = nearest(wanted, names);
	const known = names.length > 0 ? `Known: ${names.join(", ")}.` : "None is saved: put *.js files into .pi/workflows/.";
	const more = problems.slice(0, 3).join(" ");
	throw new AgentError(
		"bad_request",
		`There is no workflow ${quoted(wanted)}. ${hint ? `Did you mean "${hint}"? ` : ""}${known} ${more}`.trim(),
	);
}

/** A script file that a call names: in the user's own directory, or in a project that the user trusts. */
export async function scriptAt(path: string, { cwd, agentDir, trust }: SavedPlaces): Promise<string> {
	const file = resolve(cwd, path);
	const isOwn = isWithin(file, join(agentDir, "workflows"));
	const isInProject = isWithin(file, cwd) && leadsInto(cwd, file);
	if (!isOwn && !isInProject)
		throw new AgentError(
			"bad_request",
			`${quoted(path)} is outside this project: pass the script as text, or save it there.`,
		);
	if (!isOwn && trust !== "yes")
		throw new AgentError(
			"bad_request",
			`${quoted(path)} is a file of this project, and its scripts are run only if you trust it: use /trust.`,
		);
	const text = await readSmallFile(file);
	if (text === undefined) throw new AgentError("bad_request", `There is no file ${quoted(path)}.`);
	return text;
}

async function read(
	path: string,
	{ root, from }: WorkflowFolder,
	problems: string[],
): Promise<SavedWorkflow | undefined> {
	try {
		if (!leadsInto(root, path)) throw new Error("it is a link that leads elsewhere");
		const source = await readSmallFile(path);
		if (source === undefined) return undefined;
		return { ...checkScript(source).meta, path, source, from };
	} catch (error) {
		problems.push(`${path}: ${messageOf(error)}`);
		return undefined;
	}
}

/** `pi.subagents.workflows` of a manifest: directories inside the package. */
async function shippedBy(manifest: string, problems: string[]): Promise<WorkflowFolder[]> {
	try {
		const { pi } = JSON.parse((await readSmallFile(manifest)) ?? "{}") as { pi?: unknown };
		const named = isObject(pi) && isObject(pi.subagents) ? pi.subagents.workflows : undefined;
		const root = dirname(manifest);
		const dirs = (Array.isArray(named) ? named : [named]).filter((dir) => typeof dir === "string");
		return dirs.flatMap((dir): WorkflowFolder[] => {
			const path = resolve(root, dir);
			if (isWithin(path, root)) return [{ root, dir: path, from: "package" }];
			problems.push(`${manifest}: "pi.subagents.workflows" names ${quoted(dir)}, which is outside the package`);
			return [];
		});
	} catch (error) {
		problems.push(`${manifest}: ${messageOf(error)}`);
		return [];
	}
}
