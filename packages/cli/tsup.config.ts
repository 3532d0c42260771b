import { defineConfig, type Options } from "tsup";
import { browserScript, library } from "../../tsup.base.ts";

/** Of pi's terminal library, the widget needs two functions that measure text: the rest must not come along. */
const onlyUsedOfPiTui: NonNullable<Options["esbuildPlugins"]>[number] = {
	name: "only-used-of-pi-tui",
	setup(build) {
		build.onResolve({ filter: /.*/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
			const isPart = path === "@earendil-works/pi-tui" || /[\\/]pi-tui[\\/]dist[\\/]/.test(importer);
			if (pluginData === onlyUsedOfPiTui || !isPart) return undefined;
			return {
				...(await build.resolve(path, { importer, resolveDir, kind, pluginData: onlyUsedOfPiTui })),
				sideEffects: false,
			};
		});
	},
};

/** A program, so it holds all that it needs: installing it brings no other package. */
export default defineConfig([
	{
		...library(["src/index.ts", "src/bin.ts"]),
		clean: ["!page.*"], // both are built at the same time
		minify: true,
		noExternal: [/^(?!node:)/],
		esbuildPlugins: [onlyUsedOfPiTui],
		esbuildOptions(options) {
			options.conditions = ["@pi-subagents/source", "module"];
		},
	},
	browserScript({ page: "../report/src/page/main.tsx" }),
]);
