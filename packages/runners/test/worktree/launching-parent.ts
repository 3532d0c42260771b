/** A parent of its own: starts the run that its argument describes in a worktree, and does not end by itself. */

import { worktreeRunner } from "../../../worktree/src/index.ts";
import { processRunner } from "../../src/process/index.ts";

const { options, spec, dir } = JSON.parse(process.argv[2] ?? "{}");
worktreeRunner(processRunner({ ...options, isProjectTrusted: () => false }), { dir }).start(spec, () => undefined);
setInterval(() => undefined, 1e6);
