/**
 * Imports an extension with modules that nothing else has, while everything else keeps its own. pi's loader evaluates
 * what it compiles each time, but leaves compiled packages to Node, which evaluates them once for all: a program that an
 * extension controls through such a package would be shared by parent and child.
 */
import * as nodeModule from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterTimers, contained } from "./contained.ts";
import { lendImport } from "./lent-import.ts";
import { rootOf } from "./root.ts";

/** One after another: what one is importing must not be taken for another's. */
let turn: Promise<unknown> = Promise.resolve();

/** Rejects if the file is not an extension, and with anything that its modules throw meanwhile. */
export function importFresh(path: string): Promise<ExtensionFactory> {
	const imported = turn.then(async () => {
		const load = await lendImport();
		return apart(rootOf(path), async () => {
			const factory = await load(path);
			await afterTimers();
			return factory;
		});
	});
	turn = imported.catch(() => undefined);
	return imported;
}

/**
 * Modules below the root that Node loads meanwhile are new: ES modules by another address, others by an empty cache.
 * Node's own way from an ES module to a CommonJS module cannot be taken twice in a process: it puts modules into the
 * cache before they run, and what was required before then takes them for a cycle. So an ES module stands in for each.
 */
async function apart<T>(root: string, work: () => Promise<T>): Promise<T> {
	const place = pathToFileURL(root).href;
	const mark = `?pi-subagents=${crypto.randomUUID()}`;
	const hooks = nodeModule.registerHooks?.({
		resolve(specifier, context, next) {
			const found = next(specifier, context);
			const isNew = found.url.startsWith(place) && !found.url.includes("?") && !LENT_BY_PI.test(found.url);
			return isNew ? { ...found, url: found.url + mark } : found;
		},
		load(url, context, next) {
			const found = next(url, context);
			const isImported = url.endsWith(mark) && !context.conditions.includes("require");
			return isImported && found.format === "commonjs" ? standIn(fileURLToPath(url)) : found;
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
		return await contained(root, work);
	} finally {
		hooks?.deregister();
		take();
		for (const [path, module] of before) cache[path] = module;
	}
}

/** pi's own modules must stay the ones that pi has. */
const LENT_BY_PI = /[\\/](?:@earendil-works|@mariozechner|typebox|@sinclair[\\/]typebox)[\\/]/;

/** An ES module with what a CommonJS module exports. */
function standIn(path: string): nodeModule.LoadFnOutput {
	const exported: unknown = nodeModule.createRequire(path)(path); // it is asked for its names, and stays in the cache
	const isObject = (typeof exported === "object" && exported !== null) || typeof exported === "function";
	const isName = (name: string) => name !== "default" && name !== "module.exports" && name.isWellFormed();
	const names = isObject ? Object.getOwnPropertyNames(exported).filter(isName) : [];
	const lines = [
		`import { createRequire } from "node:module";`,
		`const exported = createRequire(${JSON.stringify(path)})(${JSON.stringify(path)});`,
		"const valueOf = (name) => { try { return exported[name]; } catch { return undefined; } };", // as Node does
		'export { exported as default, exported as "module.exports" };',
		...names.map((name, index) => `const $${index} = valueOf(${JSON.stringify(name)});`),
		...names.map((name, index) => `export { $${index} as ${JSON.stringify(name)} };`),
	];
	return { format: "module", shortCircuit: true, source: lines.join("\n") };
}
