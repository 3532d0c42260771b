/**
 * `impl.cjs` and `presets.cjs` hold everything of ours: the first is loaded with pi, the second when it is first needed.
 * They ask their caller for pi's modules. `index.js` is the compiled form of the entry, for hosts that embed pi's SDK.
 */
import { defineConfig, type Options } from "tsup";
import { library } from "../../tsup.base.ts";

const lentByPi = ["@earendil-works/pi-coding-agent", "@earendil-works/pi-tui", "typebox"];
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

export default defineConfig([
	{ ...library({ index: "src/entry.ts" }), external: lentByPi },
	{
		...library({ impl: "src/index.ts" }),
		...bundle,
		external: [...lentByPi, lazy],
		noExternal: ["@pi-subagents/core", "@pi-subagents/progress"],
		banner: {
			js: `const nodeRequire = require; module.exports = (host) => { const require = (id) => host[id] ?? nodeRequire(id === "${lazy}" ? "./presets.cjs" : id); const module = { exports: {} };`,
		},
		footer: { js: "return module.exports; };" },
	},
	{ ...library({ presets: "../presets/src/index.ts" }), ...bundle, noExternal: ["yaml"] },
]);
