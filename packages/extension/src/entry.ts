/**
 * Imports pi's modules and passes them to the compiled implementation, which Node then loads natively. For hosts that
 * embed pi's SDK, compiled as `dist/index.js`; and for a pi whose modules `native-entry.ts` does not find. Then it is
 * TypeScript on purpose: pi's loader would import a compiled module natively, and `import` would resolve to another
 * installed copy of pi.
 */
import { createRequire } from "node:module";
import * as codingAgent from "@earendil-works/pi-coding-agent";
import * as tui from "@earendil-works/pi-tui";
import * as typebox from "typebox";
import * as typeboxCompile from "typebox/compile";
import * as typeboxValue from "typebox/value";
import type subagents from "./index.ts";

type Implementation = (host: Record<string, unknown>) => { default: typeof subagents };

// The same path from `src/entry.ts` and from its compiled form, `dist/index.js`.
const implementation: Implementation = createRequire(import.meta.url)("../dist/impl.cjs");

const { default: start } = implementation({
	"@earendil-works/pi-coding-agent": codingAgent,
	"@earendil-works/pi-tui": tui,
	typebox,
	"typebox/compile": typeboxCompile,
	"typebox/value": typeboxValue,
});

export default function (pi: codingAgent.ExtensionAPI): void {
	start(pi);
}
