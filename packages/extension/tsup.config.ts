/**
 * Builds the extension into one file per moment of loading: `impl.cjs`, `commands.cjs`, `remote.cjs`, `report.cjs`, `dashboard.cjs`, `workflow.cjs`, `catalogue.cjs`, `presets.cjs`,
 * `schedule.cjs` and `yaml.cjs` contain all of our code, each loaded on first use. The first six get pi's
 * modules from their caller. `native-entry.js` is what pi loads; `index.js` is for hosts that embed pi's SDK.
 */
import { readFile } from "node:fs/promises";
import { builtins, parsePreset } from "@pi-subagents/presets";
import { defineConfig, type Options } from "tsup";
import {
	browserScript,
	buildName,
	library,
	programsBeside,
	SOURCES,
	stamped,
	typescriptBeside,
	typescriptForPi,
} from "../../tsup.base.ts";
import { fileOfBuild } from "../core/src/files/own-build.ts";

const BUILD = buildName();

/** For the beginning of a file: loads others of ours, if they are of the same build. */
const LOADING_OURS = `const fileOfBuild = ${fileOfBuild.toString()}; const loadOurs = (name) => nodeRequire(fileOfBuild(${JSON.stringify(BUILD)}, __dirname, name));`;

const lentByPi = [
	"@earendil-works/pi-coding-agent",
	"@earendil-works/pi-tui",
	"typebox",
	"typebox/compile",
	"typebox/value",
];
/** Only users of a fleet install them; and the worker beside the extension serves one pi, not a fleet. */
const optional = /^@nats-io\/|^\.\/(?:fleet|nats)\/(?:serve|up)/;
/** Packages that are loaded on first use, and the file that each is in. */
const lazy = { "@pi-subagents/presets": "catalogue.cjs", "@pi-subagents/schedule": "schedule.cjs" };
/** The same for files that need pi's modules. They contain copies of code shared with `impl.cjs`, so that code must be stateless. */
const lazyBorrowers = {
	"@pi-subagents/commands": "commands.cjs",
	"@pi-subagents/remote": "remote.cjs",
	"@pi-subagents/report": "report.cjs",
	"@pi-subagents/report/dashboard": "dashboard.cjs",
	"@pi-subagents/workflow/session": "workflow.cjs",
};

/** One file that Node loads natively; small, because pi waits for it. */
const bundle: Options = {
	format: "cjs",
	clean: false,
	splitting: false,
	minify: true,
	outExtension: () => ({ js: ".cjs" }),
	esbuildOptions: (options) => {
		options.supported = { ...options.supported, "dynamic-import": false }; // `require` finds the files beside it
		options.conditions = SOURCES;
	},
};

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/** Loads the YAML parser on first use: most presets do not need it, and loading it takes longer than reading them all. */
const lazyYaml: Plugin = {
	name: "lazy-yaml",
	setup(build) {
		build.onResolve({ filter: /^yaml$/ }, () => ({ path: "yaml", namespace: "lazy" }));
		build.onLoad({ filter: /.*/, namespace: "lazy" }, () => ({
			contents: `
				const lazily = (name) => new Proxy(function () {}, {
					apply: (_, self, args) => Reflect.apply(loadOurs("yaml.cjs")[name], self, args),
					construct: (_, args) => Reflect.construct(loadOurs("yaml.cjs")[name], args),
					get: (_, key) => loadOurs("yaml.cjs")[name][key],
				});
				export const [isMap, isScalar, Lexer, LineCounter, parseDocument, visit] =
					["isMap", "isScalar", "Lexer", "LineCounter", "parseDocument", "visit"].map(lazily);`,
		}));
	},
};

/** Parses the built-in presets at build time, so that pi's start does not have to. */
const parsedBuiltins: Plugin = {
	name: "parsed-builtins",
	setup(build) {
		build.onLoad({ filter: /[\\/]builtins[\\/]texts\.ts$/ }, () => {
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

/**
 * Imports of the folders that parse and check preset files, loaded on first use. A user without preset files needs only
 * the built-in presets, which are parsed already. Must match every import of these folders from outside them.
 */
const READING = /^\.\.?\/(?:fields|lint|parse)\//;
const READERS = [
	...[
		"parsePreset",
		"parseDefinition",
		"unusable",
		"maxFileBytes",
		"parseOverride",
		"joinOverrides",
		"lint",
		"lintPreset",
		"knownTools",
	],
	...["fields", "fieldsMarkdown", "findField"],
];

const lazyReading: Plugin = {
	name: "lazy-reading",
	setup(build) {
		build.onResolve({ filter: READING }, () => ({ path: "reading", namespace: "lazy" }));
		build.onLoad({ filter: /^reading$/, namespace: "lazy" }, () => ({
			contents: `
				for (const name of ${JSON.stringify(READERS)})
					Object.defineProperty(exports, name, { enumerable: true, get: () => loadOurs("presets.cjs")[name] });`,
		}));
	},
};

/** The catalogue needs two exports that are not part of the package's API. */
const exportsForCatalogue: Plugin = {
	name: "exports-for-catalogue",
	setup(build) {
		build.onLoad({ filter: /[\\/]presets[\\/]src[\\/]index\.ts$/ }, async ({ path }) => ({
			contents: `${await readFile(path, "utf8")}\nexport { maxFileBytes, unusable } from "./parse/parse.ts";`,
			loader: "ts",
		}));
	},
};

/** A file that needs nothing of pi. The parentheses have the same reason as in `borrower`. */
function independent(entry: Record<string, string>): Options {
	return {
		...library(entry),
		...bundle,
		banner: {
			js: `const nodeRequire = require; ${LOADING_OURS} module.exports = (function () { const module = { exports: {} };`,
		},
		footer: { js: "return module.exports; })();" },
	};
}

/**
 * A file that is a function of pi's modules. Node loads any other module that it requires, once.
 * The parentheses make V8 compile the whole function eagerly, so that Node's compile cache keeps it.
 */
function borrower(entry: Record<string, string>): Options {
	const [borrowers, others] = [JSON.stringify(lazyBorrowers), JSON.stringify(lazy)];
	const load = `${borrowers}[id] ? loadOurs(${borrowers}[id])(host) : ${others}[id] ? loadOurs(${others}[id]) : nodeRequire(id)`;
	return {
		...library(entry),
		...bundle,
		external: [
			optional,
			...[...lentByPi, ...Object.keys(lazy), ...Object.keys(lazyBorrowers)].map((id) => new RegExp(`^${id}$`)),
		],
		noExternal: [
			/^@pi-subagents\/(?:core|delivery|launch|progress|rpc|runners|runs|tools|widget|worktree)(?:\/|$)/,
			/^@pi-subagents\/(?:commands|remote)\//,
			/^nanoid$/,
		],
		define: { "import.meta.url": "fileUrl" }, // the files that run in other processes are beside this one
		banner: {
			js: `const fileUrl = require("node:url").pathToFileURL(__filename).href; const nodeRequire = require; ${LOADING_OURS} module.exports = (function (host) { const known = { ...host }; const require = (id) => (known[id] ??= ${load}); const module = { exports: {} };`,
		},
		footer: { js: "return module.exports; });" },
	};
}

const files: Options[] = [
	// All are built at the same time: what another one has just written must stay.
	{
		...library({ index: "src/entry.ts", "native-entry": "src/native-entry.ts" }),
		external: lentByPi,
		clean: ["!**/*.{cjs,js,css}{,.map}", ...Object.keys(typescriptBeside).map((name) => `!${name}.ts`)],
	},
	borrower({ impl: "src/index.ts" }),
	borrower({ commands: "../commands/src/index.ts" }),
	borrower({ remote: "../remote/src/index.ts" }),
	borrower({ report: "../report/src/index.ts" }),
	borrower({ dashboard: "../report/src/dashboard/index.ts" }),
	borrower({ workflow: "../workflow/src/session/index.ts" }),
	{
		...independent({ catalogue: "../presets/src/index.ts" }),
		esbuildPlugins: [lazyReading, parsedBuiltins],
	},
	{
		...independent({ presets: "../presets/src/index.ts" }),
		esbuildPlugins: [lazyYaml, exportsForCatalogue],
	},
	{ ...library({ schedule: "../schedule/src/index.ts" }), ...bundle, noExternal: [/^(?!node:)/] },
	{
		// Code for other processes and threads is self-contained: it cannot borrow pi's modules.
		...library({
			worker: "../remote/src/bin.ts",
			...programsBeside,
			"workflow-worker": "../workflow/src/thread/worker.ts",
		}),
		clean: false,
		splitting: false,
		minify: true,
		external: [optional],
		noExternal: [/^(?!node:|@nats-io\/|\.\/(?:fleet|nats)\/(?:serve|up))/],
		esbuildOptions: (options) => {
			options.sourcesContent = false;
			options.conditions = SOURCES;
		},
	},
	typescriptForPi(typescriptBeside),
	browserScript({ page: "../report/src/page/main.tsx" }),
	{ ...library({ yaml: "../presets/node_modules/yaml/dist/index.js" }), ...bundle, noExternal: ["yaml"] },
];

export default defineConfig(files.map((each) => stamped(BUILD, each)));
