/** How every package is built: one ESM file per entry, with source maps. Declarations come from `tsc`. */
import type { Options } from "tsup";

export function library(entry: Options["entry"] = ["src/index.ts"]): Options {
	return {
		entry,
		format: "esm",
		platform: "node",
		target: "node22.19",
		sourcemap: true,
		clean: true,
		splitting: true,
		silent: true,
		esbuildOptions(options) {
			options.sourcesContent = false; // the sources are published beside the maps
		},
	};
}
