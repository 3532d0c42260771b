/** The built-in presets as texts, so that they survive bundling into one file. None of them names a model. */
import type { KnownFile } from "../model/preset.ts";
import { explore } from "./explore.ts";
import { generalPurpose } from "./general-purpose.ts";
import { plan } from "./plan.ts";
import { planner } from "./planner.ts";
import { reviewer } from "./reviewer.ts";
import { scout } from "./scout.ts";
import { worker } from "./worker.ts";

/** Every built-in. */
export const builtinFiles: readonly KnownFile[] = [
	{ path: "builtin:Explore.md", text: explore },
	{ path: "builtin:general-purpose.md", text: generalPurpose },
	{ path: "builtin:Plan.md", text: plan },
	{ path: "builtin:planner.md", text: planner },
	{ path: "builtin:reviewer.md", text: reviewer },
	{ path: "builtin:scout.md", text: scout },
	{ path: "builtin:worker.md", text: worker },
];
