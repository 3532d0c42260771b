import { defineConfig } from "tsup";
import {
	buildName,
	library,
	programs,
	programsBeside,
	stamped,
	typescriptBeside,
	typescriptForPi,
} from "../../tsup.base.ts";

const BUILD = buildName();

/** What runs on the other machine: installing it brings no other package. */
const running = {
	worker: "src/bin.ts",
	...programsBeside,
};

export default defineConfig([
	{
		...library(["src/index.ts", "src/pi/index.ts"]),
		external: [/^@pi-subagents\/remote$/], // loaded on first use
		clean: [
			...Object.keys(typescriptBeside).map((name) => `!${name}.ts`),
			...[...Object.keys(running), "nats-client"].map((name) => `!${name}.js*`),
		],
	},
	stamped(BUILD, { ...programs(running), noExternal: [/^(?!node:|@nats-io\/)/] }),
	// Only a worker of a fleet loads it.
	stamped(BUILD, {
		...library({ "nats-client": "src/nats/packages.ts" }),
		clean: false,
		splitting: false,
		minify: true,
		noExternal: [/^(?!node:)/],
		banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
	}),
	stamped(BUILD, typescriptForPi(typescriptBeside)),
]);
