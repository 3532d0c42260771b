/**
 * The file pi loads. pi's loader imports a compiled module natively, without its compiler, which takes longer to load
 * than all of our code; but then `import` cannot ask the loader for the modules of the running pi. They are taken from
 * the bundle that the process runs. Where that has none, this fails, and the loader evaluates the file again by itself:
 * then `entry.ts` imports them through the loader.
 */
import { readdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type subagents from "./index.ts";

type Start = typeof subagents;

// The same paths from `src` and from `dist`.
const IMPLEMENTATION = "../dist/impl.cjs";
const ENTRY_FOR_THE_LOADER = "../src/entry.ts";

const NEEDED = [
	"@earendil-works/pi-coding-agent",
	"@earendil-works/pi-tui",
	"typebox",
	"typebox/compile",
	"typebox/value",
];

/** pi's loader evaluates a file as CommonJS, with a `module`; a native ES module has none. */
const isNative = typeof module === "undefined";

const start: Start = isNative ? await startNatively() : await startThroughLoader();

export default function (pi: ExtensionAPI): void {
	start(pi);
}

async function startNatively(): Promise<Start> {
	const modules = await modulesOfRunningPi();
	return createRequire(import.meta.url)(IMPLEMENTATION)(modules).default;
}

async function startThroughLoader(): Promise<Start> {
	return (await import(new URL(ENTRY_FOR_THE_LOADER, import.meta.url).href)).default;
}

/** What pi's loader would give to an extension. They are loaded already: pi prepares them before it loads an extension. */
async function modulesOfRunningPi(): Promise<Record<string, unknown>> {
	const chunks = join(dirname(realpathSync(process.argv[1] ?? "")), "chunks");
	const file = readdirSync(chunks).find((name) => /^virtual-modules-\w+\.js$/.test(name));
	const { VIRTUAL_MODULES: modules } = await import(pathToFileURL(join(chunks, file ?? "")).href);
	const missing = NEEDED.find((name) => !modules[name]);
	if (missing !== undefined) throw new Error(`${file} has no ${missing}.`);
	return modules;
}
