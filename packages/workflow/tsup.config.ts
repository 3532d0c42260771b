import { defineConfig } from "tsup";
import { library } from "../../tsup.base.ts";

/** The thread's program is a file of its own with all that it needs. */
const programs = { "workflow-worker": "src/thread/worker.ts" };

export default defineConfig([
	{ ...library(["src/index.ts", "src/session/index.ts"]), clean: ["!workflow-worker.js*"] }, // both are built at the same time
	{ ...library(programs), clean: false, splitting: false, minify: true, noExternal: [/^(?!node:)/] },
]);
