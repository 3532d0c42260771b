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
		clean: ["!child-mcp.ts", ...[...Object.keys(programs), "nats-client"].map((name) => `!${name}.js*`)],
	},
	{
		...library(programs),
		clean: false,
		splitting: false,
		minify: true,
		noExternal: [/^(?!node:|@nats-io\/)/],
		esbuildOptions(options) {
			options.conditions = ["@pi-subagents/source", "module"];
		},
	},
	// Only a worker of a fleet loads it.
	{
		...library({ "nats-client": "src/nats/packages.ts" }),
		clean: false,
		splitting: false,
		minify: true,
		noExternal: [/^(?!node:)/],
		banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
	},
	childMcp("child-mcp", "../core/src/process/child/mcp-entry.ts"),
]);
