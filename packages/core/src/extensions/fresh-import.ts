/**
 * Imports an extension with modules that nothing else has, while everything else keeps its own. pi's loader evaluates
 * what it compiles each time, but leaves compiled packages to Node, which evaluates them once for all: a program that an
 * extension controls through such a package would be shared by parent and child.
 */
import { existsSync, realpathSync } from "node:fs";
import * as nodeModule from "node:module";
import { dirname, join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { lendImport } from "./lent-import.ts";

/** One after another: what one is importing must not be taken for another's. */
let turn: Promise<unknown> = Promise.resolve();

/** Rejects if the file is not an extension. */
export function importFresh(path: string): Promise<ExtensionFactory> {
	const imported = turn.then(async () => {
		const load = await lendImport();
		return apart(rootOf(path), () => load(path));
	});
	turn = imported.catch(() => undefined);
	return imported;
}

/** Modules below the root that Node loads meanwhile are new: ES modules by another address, others by an empty cache. */
async function apart<T>(root: string, work: () => Promise<T>): Promise<T> {
	const place = pathToFileURL(root).href;
	const mark = `?pi-subagents=${crypto.randomUUID()}`;
	const hooks = nodeModule.registerHooks?.({
		resolve(specifier, context, next) {
			const found = next(specifier, context);
			const isNew = found.url.startsWith(place) && !found.url.includes("?") && !LENT_BY_PI.test(found.url);
			return isNew ? { ...found, url: found.url + mark } : found;
		},
	});
	const { cache } = nodeModule.createRequire(join(root, "any.js"));
	const take = () => {
		const below = Object.entries(cache).filter(([path]) => path.startsWith(root) && !LENT_BY_PI.test(path));
		for (const [path] of below) delete cache[path];
		return below;
	};
	const before = take();
	try {
		return await work();
	} finally {
		hooks?.deregister();
		take();
		for (const [path, module] of before) cache[path] = module;
	}
}

/** pi's own modules must stay the ones that pi has. */
const LENT_BY_PI = /[\\/](?:@earendil-works|@mariozechner|typebox|@sinclair[\\/]typebox)[\\/]/;

/** How far above an extension its package may begin. */
const MAX_LEVELS = 3;

/** What belongs to the extension: all packages that are installed with it, or its own package, or its directory. */
function rootOf(path: string): string {
	const real = realpathSync(path);
	const [above = "", ...rest] = real.split(`${sep}node_modules${sep}`);
	if (rest.length > 0) return `${above}${sep}node_modules${sep}`;
	const dir = dirname(real);
	const levels = Array.from({ length: MAX_LEVELS }).map((_, level) => join(dir, ...Array(level).fill("..")));
	return (levels.find((each) => existsSync(join(each, "package.json"))) ?? dir) + sep;
}
