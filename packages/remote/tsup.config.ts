import { defineConfig } from "tsup";
import { childMcp, library } from "../../tsup.base.ts";

/** What runs on the other machine: each file holds all that it needs, so that installing it brings no other package. */
const programs = {
	worker: "src/bin.ts",
	wrapper: "../core/src/process/wrapper/main.ts",
	child: "../core/src/process/child/entry.ts",
	"output-worker": "../core/src/output/worker.ts",
	"file-worker": "../core/src/files/file-worker.ts",
};

export default defineConfig([
	{
		...library(["src/index.ts", "src/pi/index.ts"]),
		external: [/^@pi-subagents\/remote$/], // loaded on first use
		clean: ["!child-mcp.ts", ...Object.keys(programs).map((name) => `!${name}.js*`)],
	},
	{
		...library(programs),
		clean: false,
		splitting: false,
		minify: true,
		noExternal: [/^(?!node:)/],
		esbuildOptions(options) {
			options.conditions = ["@pi-subagents/source", "module"];
		},
	},
	childMcp("child-mcp", "../core/src/process/child/mcp-entry.ts"),
]);
