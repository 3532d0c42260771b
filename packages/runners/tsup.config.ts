import { defineConfig } from "tsup";
import { library, programs, typescriptForPi } from "../../tsup.base.ts";

/** The wrapper and the child are in one file each, so the threads that they start must lie here too. */
const running = {
	"process/wrapper": "src/process/wrapper/main.ts",
	"process/child": "src/process/child/entry.ts",
	"output-worker": "../core/src/output/worker.ts",
	"file-worker": "../core/src/files/file-worker.ts",
};

export default defineConfig([
	{
		...library(["detached", "process", "session", "tmux"].map((folder) => `src/${folder}/index.ts`)),
		clean: ["!process/child-*.ts", "!extension-importer.ts", ...Object.keys(running).map((name) => `!${name}.js*`)], // all are built at the same time
	},
	programs(running),
	typescriptForPi({
		"process/child-guards": "src/process/child/guards-entry.ts",
		"process/child-mcp": "src/process/child/mcp-entry.ts",
		"process/child-no-user": "src/process/child/no-user-entry.ts",
		"extension-importer": "src/extensions/importer-entry.ts",
	}),
]);
