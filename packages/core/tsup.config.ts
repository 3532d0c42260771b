import { defineConfig } from "tsup";
import { library, programs } from "../../tsup.base.ts";

const running = {
	"output-worker": "src/output/worker.ts",
	"file-worker": "src/files/file-worker.ts",
};

export default defineConfig([
	{
		...library([
			...["", "memory/", "model/schema/", "outcome-text/", "output/", "shell/", "testing/"].map(
				(folder) => `src/${folder}index.ts`,
			),
			"src/internal/*.ts",
		]),
		clean: Object.keys(running).map((name) => `!${name}.js*`), // both are built at the same time
	},
	programs(running),
]);
