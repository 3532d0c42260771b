import { defineConfig } from "tsup";
import { library } from "../../tsup.base.ts";

/** Each runs as a file of its own, in a process or a thread of its own, so each holds all that it needs. */
const programs = {
	"process/wrapper": "src/process/wrapper/main.ts",
	"process/child": "src/process/child/entry.ts",
	"output-worker": "src/output/worker.ts",
	"file-worker": "src/files/file-worker.ts",
};

export default defineConfig([
	{
		...library(
			[
				"",
				"files/",
				"memory/",
				"output/",
				"process/",
				"report/",
				"runs/",
				"session/",
				"testing/",
				"tmux/",
				"worktree/",
			].map((folder) => `src/${folder}index.ts`),
		),
		clean: Object.keys(programs).map((name) => `!${name}.js*`), // both are built at the same time
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
]);
