import { defineConfig } from "tsup";
import { coreProgramsBeside, coreTypescriptBeside, library, programs, typescriptForPi } from "../../tsup.base.ts";

/** What runs on the other machine: installing it brings no other package. */
const running = {
	worker: "src/bin.ts",
	...coreProgramsBeside,
};

export default defineConfig([
	{
		...library(["src/index.ts", "src/pi/index.ts"]),
		external: [/^@pi-subagents\/remote$/], // loaded on first use
		clean: [
			...Object.keys(coreTypescriptBeside).map((name) => `!${name}.ts`),
			...[...Object.keys(running), "nats-client"].map((name) => `!${name}.js*`),
		],
	},
	{ ...programs(running), noExternal: [/^(?!node:|@nats-io\/)/] },
	// Only a worker of a fleet loads it.
	{
		...library({ "nats-client": "src/nats/packages.ts" }),
		clean: false,
		splitting: false,
		minify: true,
		noExternal: [/^(?!node:)/],
		banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
	},
	typescriptForPi(coreTypescriptBeside),
]);
