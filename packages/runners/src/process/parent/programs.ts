/** Whether the programs that a run will need are still those of this build: an update replaces them while pi runs. */

import type { RunSpec } from "@pi-subagents/core";
import { AgentError } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import { updateNotice } from "@pi-subagents/core/internal/files";
import { keepValidator } from "@pi-subagents/core/internal/run";

/**
 * Throws an `AgentError` that says to restart pi. An agent inside pi needs no program, unless its answer is checked: that
 * program is kept from now on, so that an update does not matter.
 */
export function requirePrograms({ runner, output, verify }: Pick<RunSpec, "runner" | "output" | "verify">): void {
	const notice = runner === "session" ? undefined : updateNotice(import.meta.url);
	if (notice !== undefined) throw new AgentError("wrong_state", notice);
	try {
		if (output || (verify && "schema" in verify)) keepValidator();
	} catch (error) {
		throw new AgentError("wrong_state", messageOf(error));
	}
}
