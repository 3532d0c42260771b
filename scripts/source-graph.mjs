/**
 * The source files of the packages and what they import, read from their text: enough to check the architecture and to
 * measure the shape of the tree without a compiler.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";

/** The TypeScript files below a directory; none if there is no such directory. */
export function typescriptIn(dir) {
	if (!existsSync(dir)) return [];
	return readdirSync(dir, { recursive: true })
		.filter((file) => /\.tsx?$/.test(file) && !file.split(sep).includes("node_modules"))
		.map((file) => join(dir, file));
}

/** What a file imports: `target` as written, `isType` if it costs nothing at run time, `names` if they are listed. */
export function importsOf(file) {
	return importsIn(readFileSync(file, "utf8"));
}

export function withoutComments(source) {
	return source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

export function importsIn(source) {
	const text = withoutComments(source); // they hold examples with imports of their own
	const statements = /^\s*(import|export)\s+(type\s+)?([^"';]*?\bfrom\s*)?"([^"]+)";/gm;
	const dynamic = /\bimport\("([^"]+)"\)/g;
	return [
		...[...text.matchAll(statements)].map(([, , type, clause = "", target]) => ({
			target,
			isType: !!type || onlyTypes(clause),
			names: namesIn(clause),
		})),
		...[...text.matchAll(dynamic)].map(([, target]) => ({ target, isType: false, names: undefined })),
	];
}

/**
 * Which folder imports which, type imports included because they show the direction too. An `index.ts` is an entry of
 * its package, not a member of its folder.
 */
export function folderGraph(graph) {
	const folders = new Map();
	for (const [file, imports] of graph) {
		if (file.endsWith(`${sep}index.ts`)) continue;
		const folder = dirname(file);
		const known = folders.get(folder) ?? new Set();
		for (const { target } of imports) {
			if (!target.startsWith(".")) continue;
			const other = dirname(resolve(folder, target));
			if (other !== folder) known.add(other);
		}
		folders.set(folder, known);
	}
	return folders;
}

/** `import { type A, type B } from`. */
function onlyTypes(clause) {
	const names = listed(clause);
	return !!names?.length && names.every((name) => name.startsWith("type "));
}

/** The names as their owner calls them; `undefined` for `* as all` and for what is imported only for its effects. */
function namesIn(clause) {
	return listed(clause)?.map((name) =>
		name
			.replace(/^type /, "")
			.split(" as ")[0]
			.trim(),
	);
}

function listed(clause) {
	return /\{([^}]*)\}/
		.exec(clause)?.[1]
		?.split(",")
		.map((name) => name.trim())
		.filter(Boolean);
}
