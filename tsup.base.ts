/** How packages are built: one ESM file per entry, with source maps. Declarations come from `tsc`. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Options } from "tsup";

/** What is bundled comes from the sources of the other packages, so their builds need not come first. */
export const SOURCES = ["@pi-subagents/source", "module"];

export function library(entry: Options["entry"] = ["src/index.ts"]): Options {
	return {
		entry,
		format: "esm",
		platform: "node",
		target: "node22.19",
		sourcemap: true,
		clean: true,
		splitting: true,
		silent: true,
		esbuildOptions(options) {
			options.sourcesContent = false; // the sources are published beside the maps
		},
	};
}

/** Each runs as a file of its own, in a process or a thread of its own, so each holds all that it needs. */
export function programs(entry: Record<string, string>): Options {
	return {
		...library(entry),
		clean: false,
		splitting: false,
		minify: true,
		noExternal: [/^(?!node:)/],
		esbuildOptions(options) {
			options.sourcesContent = false;
			options.conditions = SOURCES;
		},
	};
}

/** The programs that runs need, for a package that brings them along. */
export const programsBeside = {
	wrapper: "../runners/src/process/wrapper/main.ts",
	child: "../runners/src/process/child/entry.ts",
	"output-worker": "../core/src/output/worker.ts",
	"file-worker": "../core/src/files/file-worker.ts",
};

/** The same for what only pi's loader can load. */
export const typescriptBeside = {
	"child-guards": "../runners/src/process/child/guards-entry.ts",
	"child-mcp": "../runners/src/process/child/mcp-entry.ts",
	"child-no-user": "../runners/src/process/child/no-user-entry.ts",
	"extension-importer": "../runners/src/extensions/importer-entry.ts",
	"guard-scout": "../runners/src/extensions/scout-entry.ts",
};

/**
 * Extensions that need pi's modules or pi's `import` at run time. Compiled, but named as TypeScript: pi's loader would
 * import a `.js` natively, and then `import` would find another installed copy of pi, or none.
 */
export function typescriptForPi(entry: Record<string, string>): Options {
	return {
		...library(entry),
		clean: false,
		splitting: false,
		sourcemap: false,
		minify: true,
		outExtension: () => ({ js: ".ts" }),
		external: ["@earendil-works/pi-coding-agent"],
		noExternal: [/^(?!node:|@earendil-works\/)/],
		esbuildOptions(options) {
			options.conditions = SOURCES;
		},
	};
}

/** A script for a browser: one small file that holds everything, with its style sheet beside it. */
export function browserScript(entry: Record<string, string>): Options {
	return {
		entry,
		format: "iife",
		platform: "browser",
		target: "es2022",
		minify: true,
		clean: false,
		silent: true,
		noExternal: [/.*/],
		outExtension: () => ({ js: ".js" }),
		esbuildOptions(options) {
			options.jsx = "automatic";
			options.jsxImportSource = "preact";
			options.conditions = SOURCES;
		},
	};
}

/**
 * Names the build of the package in the current directory: its version, and a mark of all sources that may be in it, since
 * local builds share a version. The same sources give the same name.
 */
export function buildName(): string {
	const { version } = JSON.parse(readFileSync("package.json", "utf8"));
	const sources = readdirSync("..").flatMap((name) => filesIn(`../${name}/src`));
	const hash = createHash("sha256");
	for (const path of [...sources.sort(), "tsup.config.ts", "../../tsup.base.ts", "../../pnpm-lock.yaml"])
		hash.update(path.replaceAll("\\", "/")).update("\0").update(readFileSync(path)).update("\0");
	return `${version}+${hash.digest("hex").slice(0, 8)}`;
}

function filesIn(dir: string): string[] {
	try {
		const found = readdirSync(dir, { recursive: true, withFileTypes: true });
		return found.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`);
	} catch {
		return []; // not every directory is a package with sources
	}
}

/** Its files know which build they are of, and begin with its name: `core/src/files/own-build.ts` reads it. */
export function stamped(build: string, options: Options): Options {
	const stamp = `/* pi-subagents ${build} */`;
	const { js = "" } = typeof options.banner === "object" ? options.banner : {};
	return {
		...options,
		define: { ...options.define, PI_SUBAGENTS_BUILD: JSON.stringify(build) },
		banner: { js: `${stamp}${js}`, css: stamp },
	};
}
