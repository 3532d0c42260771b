import { defineConfig } from "tsup";
import { library } from "../../tsup.base.ts";

/** A program, so it holds all that it needs: installing it brings no other package. */
export default defineConfig({
	...library(["src/index.ts", "src/bin.ts"]),
	minify: true,
	noExternal: [/^(?!node:)/],
	esbuildOptions(options) {
		options.conditions = ["@pi-subagents/source", "module"];
	},
});
