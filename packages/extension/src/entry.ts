/**
 * The file pi loads: it passes pi's modules to the compiled implementation, which Node then loads natively.
 * TypeScript on purpose: pi's loader would import a compiled ES module natively, and then `import` would resolve to
 * another installed copy of pi; and it would transform a tree of sources on every cold start.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import * as codingAgent from "@earendil-works/pi-coding-agent";
import * as tui from "@earendil-works/pi-tui";
import * as typebox from "typebox";
import * as typeboxCompile from "typebox/compile";
import * as typeboxValue from "typebox/value";
import type subagents from "./index.ts";
import type * as loader from "./load.ts";

type Implementation = (host: Record<string, unknown>) => { default: typeof subagents };

// The same paths from `src/entry.ts` and from its compiled form, `dist/index.js`.
const { load, keep }: typeof loader = createRequire(import.meta.url)("../dist/load.cjs");
const implementation = load(fileURLToPath(new URL("../dist/impl.cjs", import.meta.url))) as Implementation;

const { default: start } = implementation({
	"@earendil-works/pi-coding-agent": codingAgent,
	"@earendil-works/pi-tui": tui,
	typebox,
	"typebox/compile": typeboxCompile,
	"typebox/value": typeboxValue,
});

export default function (pi: codingAgent.ExtensionAPI): void {
	start(pi);
	pi.on("agent_settled", keep); // by then everything the start needs has been loaded
}
