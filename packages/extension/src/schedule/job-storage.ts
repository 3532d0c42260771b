/** Where jobs are stored, and whether project jobs are trusted. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError } from "@pi-subagents/core";
import type { Launcher, Scope } from "@pi-subagents/launch";
import { type Host, reopenableDir } from "../host/host.ts";

/**
 * Undefined for a session without a file: it cannot be reopened, so its jobs need no directory. Undefined for a project
 * whose path contains a link to the outside: the target does not belong to the project.
 */
export async function directoryOf(
	scope: Scope,
	ctx: ExtensionContext,
	{ host, launcher }: { host: Host; launcher: Launcher<ExtensionContext> },
): Promise<string | undefined> {
	if (scope === "project") return launcher.placeFor("schedules", ctx);
	return reopenableDir(host.agentDir, "schedules", ctx);
}

/** Project files are untrusted by default, and a job runs without confirmation. */
export function isTrusted(host: Host, { cwd }: Pick<ExtensionContext, "cwd">): boolean {
	return host.storedTrust(cwd) === "yes";
}

export function assertTrusted(host: Host, ctx: Pick<ExtensionContext, "cwd">): void {
	if (isTrusted(host, ctx)) return;
	throw new AgentError(
		"bad_request",
		"Project jobs run only if you trust the project: use /trust. Session jobs need no trust.",
	);
}
