/**
 * `impl.cjs`, `presets.cjs` and `yaml.cjs` hold everything of ours, each loaded when it is first needed.
 * The first asks its caller for pi's modules. `index.js` is the compiled form of the entry, for hosts that embed pi's SDK.
 */
import { defineConfig, type Options } from "tsup";
import { library } from "../../tsup.base.ts";

const lentByPi = ["@earendil-works/pi-coding-agent", "@earendil-works/pi-tui", "typebox", "typebox/value"];
const lazy = "@pi-subagents/presets";

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

/** Most presets need no YAML parser, and loading one takes longer than reading them all: it comes with its first use. */
const lazyYaml: NonNullable<Options["esbuildPlugins"]>[number] = {
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

export default defineConfig([
	{ ...library({ index: "src/entry.ts" }), external: lentByPi },
	{
		...library({ impl: "src/index.ts" }),
		...bundle,
		external: [...lentByPi, lazy],
		noExternal: ["@pi-subagents/core", "@pi-subagents/progress", "@pi-subagents/widget"],
		define: { "import.meta.url": "implUrl" }, // the files of other processes lie beside this one
		// The parentheses make V8 compile the whole function at once, and so keep it in its cache: a fourth of the time.
		banner: {
			js: `const implUrl = require("node:url").pathToFileURL(__filename).href; const nodeRequire = require; module.exports = (function (host) { const require = (id) => host[id] ?? nodeRequire(id === "${lazy}" ? "./presets.cjs" : id); const module = { exports: {} };`,
		},
		footer: { js: "return module.exports; });" },
	},
	{
		...library({ presets: "../presets/src/index.ts" }),
		...bundle,
		external: ["./yaml.cjs"],
		esbuildPlugins: [lazyYaml],
	},
	{
		// What runs in processes of its own holds all that it needs: nothing is lent to it.
		...library({ wrapper: "../core/src/process/wrapper/main.ts", child: "../core/src/process/child/entry.ts" }),
		clean: false,
		splitting: false,
		minify: true,
		noExternal: [/^(?!node:)/],
	},
	{ ...library({ yaml: "../presets/node_modules/yaml/dist/index.js" }), ...bundle, noExternal: ["yaml"] },
]);
