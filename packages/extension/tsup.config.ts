/**
 * `impl.cjs`, `commands.cjs`, `catalogue.cjs`, `presets.cjs`, `schedule.cjs` and `yaml.cjs` hold everything of ours, each
 * loaded by `load.cjs` when it is first needed. The first two ask their caller for pi's modules. `index.js` is the compiled form of the
 * entry, for hosts that embed pi's SDK.
 */
import { readFile } from "node:fs/promises";
import { builtins, parsePreset } from "@pi-subagents/presets";
import { defineConfig, type Options } from "tsup";
import { library } from "../../tsup.base.ts";

const lentByPi = [
	"@earendil-works/pi-coding-agent",
	"@earendil-works/pi-tui",
	"typebox",
	"typebox/compile",
	"typebox/value",
];
/** What comes with its first use, and the file that it is in. */
const lazy = { "@pi-subagents/presets": "./catalogue.cjs", "@pi-subagents/schedule": "./schedule.cjs" };
/** The same, where that file needs pi's modules, too. It has copies of what it shares with others, so they hold no state. */
const lazyBorrowers = { "./code.ts": "./commands.cjs" };

/** One file for Node to load natively, small because pi waits for it. */
const bundle: Options = {
	format: "cjs",
	clean: false,
	splitting: false,
	minify: true,
	outExtension: () => ({ js: ".cjs" }),
	esbuildOptions: (options) => {
		options.supported = { ...options.supported, "dynamic-import": false }; // `require` finds what lies beside it
	},
};

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/** Most presets need no YAML parser, and loading one takes longer than reading them all: it comes with its first use. */
const lazyYaml: Plugin = {
	name: "lazy-yaml",
	setup(build) {
		build.onResolve({ filter: /^yaml$/ }, () => ({ path: "yaml", namespace: "lazy" }));
		build.onLoad({ filter: /.*/, namespace: "lazy" }, () => ({
			contents: `
				const lazily = (name) => new Proxy(function () {}, {
					apply: (_, self, args) => Reflect.apply(require("./yaml.cjs")[name], self, args),
					construct: (_, args) => Reflect.construct(require("./yaml.cjs")[name], args),
					get: (_, key) => require("./yaml.cjs")[name][key],
				});
				export const [isMap, isScalar, Lexer, LineCounter, parseDocument, visit] =
					["isMap", "isScalar", "Lexer", "LineCounter", "parseDocument", "visit"].map(lazily);`,
		}));
	},
};

/** What the built-in presets say is known when we are built: at the start of pi they are not parsed again. */
const parsedBuiltins: Plugin = {
	name: "parsed-builtins",
	setup(build) {
		build.onLoad({ filter: /[\\/]builtins[\\/]index\.ts$/ }, () => {
			const files = builtins().flatMap((each) =>
				each.type === "texts"
					? each.files.map((file) => ({
							...file,
							result: parsePreset(file.text, { path: file.path, source: each.source }),
						}))
					: [],
			);
			return { contents: `export const builtinFiles = ${JSON.stringify(files)};`, loader: "ts" };
		});
	},
};

/** What reads presets. Whoever has none of their own needs only the built-in ones, and those are parsed: it comes with its first use. */
const READING = /^\.\/(?:parse|override|lint|lint-preset|fields|fields-doc|spelling)\.ts$/;
const READERS = [
	...["parsePreset", "unusable", "maxFileBytes", "parseOverride", "lint", "lintPreset", "knownTools"],
	...["fields", "fieldsMarkdown", "findField"],
];

const lazyReading: Plugin = {
	name: "lazy-reading",
	setup(build) {
		build.onResolve({ filter: READING }, () => ({ path: "reading", namespace: "lazy" }));
		build.onLoad({ filter: /^reading$/, namespace: "lazy" }, () => ({
			contents: `
				for (const name of ${JSON.stringify(READERS)})
					Object.defineProperty(exports, name, { enumerable: true, get: () => require("./presets.cjs")[name] });`,
		}));
	},
};

/** The catalogue asks for more than the package shows to others. */
const shownToCatalogue: Plugin = {
	name: "shown-to-catalogue",
	setup(build) {
		build.onLoad({ filter: /[\\/]presets[\\/]src[\\/]index\.ts$/ }, async ({ path }) => ({
			contents: `${await readFile(path, "utf8")}\nexport { maxFileBytes, unusable } from "./parse.ts";`,
			loader: "ts",
		}));
	},
};

/** One that asks for nothing of pi's. The parentheses are there for the same reason as below. */
function independent(entry: Record<string, string>): Options {
	return {
		...library(entry),
		...bundle,
		banner: { js: "module.exports = (function () { const module = { exports: {} };" },
		footer: { js: "return module.exports; })();" },
	};
}

/**
 * A file that is a function of pi's modules. What else is asked for is loaded once, by Node.
 * The parentheses make V8 compile the whole function at once, and so keep it in Node's cache: a fourth of the time, where
 * `load.cjs` has nothing better yet.
 */
function borrower(entry: Record<string, string>): Options {
	const load = `${JSON.stringify(lazyBorrowers)}[id] ? nodeRequire(${JSON.stringify(lazyBorrowers)}[id])(host) : nodeRequire(${JSON.stringify(lazy)}[id] ?? id)`;
	return {
		...library(entry),
		...bundle,
		external: [...lentByPi, ...Object.keys(lazy), ...Object.keys(lazyBorrowers)],
		noExternal: ["@pi-subagents/core", "@pi-subagents/progress", "@pi-subagents/rpc", "@pi-subagents/widget"],
		define: { "import.meta.url": "fileUrl" }, // the files of other processes lie beside this one
		banner: {
			js: `const fileUrl = require("node:url").pathToFileURL(__filename).href; const nodeRequire = require; module.exports = (function (host) { const known = { ...host }; const require = (id) => (known[id] ??= ${load}); const module = { exports: {} };`,
		},
		footer: { js: "return module.exports; });" },
	};
}

export default defineConfig([
	{ ...library({ index: "src/entry.ts" }), external: lentByPi },
	independent({ load: "src/load.ts" }),
	borrower({ impl: "src/index.ts" }),
	borrower({ commands: "src/commands/code.ts" }),
	{
		...independent({ catalogue: "../presets/src/index.ts" }),
		external: ["./presets.cjs"],
		esbuildPlugins: [lazyReading, parsedBuiltins],
	},
	{
		...independent({ presets: "../presets/src/index.ts" }),
		external: ["./yaml.cjs"],
		esbuildPlugins: [lazyYaml, shownToCatalogue],
	},
	{ ...library({ schedule: "../schedule/src/index.ts" }), ...bundle, noExternal: [/^(?!node:)/] },
	{
		// What runs in processes and threads of its own holds all that it needs: nothing is lent to it.
		...library({
			wrapper: "../core/src/process/wrapper/main.ts",
			child: "../core/src/process/child/entry.ts",
			"output-worker": "../core/src/output/worker.ts",
			"file-worker": "../core/src/process/file-worker.ts",
		}),
		clean: false,
		splitting: false,
		minify: true,
		noExternal: [/^(?!node:)/],
	},
	{ ...library({ yaml: "../presets/node_modules/yaml/dist/index.js" }), ...bundle, noExternal: ["yaml"] },
]);
