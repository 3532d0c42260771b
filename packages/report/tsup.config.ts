/** The library, and the page's script and style: each one file that the library puts into every report. */
import { defineConfig } from "tsup";
import { browserScript, library } from "../../tsup.base.ts";

export default defineConfig([
	{ ...library(["src/index.ts", "src/dashboard/index.ts"]), clean: ["!page.*"] }, // both are built at the same time
	browserScript({ page: "src/page/main.tsx" }),
]);
