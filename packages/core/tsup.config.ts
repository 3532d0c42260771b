import { defineConfig } from "tsup";
import { childMcp, library } from "../../tsup.base.ts";

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
				"commands/",
				"detached/",
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
		clean: ["!process/child-mcp.ts", ...Object.keys(programs).map((name) => `!${name}.js*`)], // all are built at the same time
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
	childMcp("process/child-mcp", "src/process/child/mcp-entry.ts"),
]);
