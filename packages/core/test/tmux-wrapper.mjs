/** The wrapper from its source, for a place that gives it no NODE_OPTIONS. */
import { registerHooks } from "node:module";

registerHooks({
	resolve: (specifier, context, next) =>
		next(specifier, { ...context, conditions: ["@pi-subagents/source", ...context.conditions] }),
});
await import(new URL("../src/process/wrapper/main.ts", import.meta.url).href);
