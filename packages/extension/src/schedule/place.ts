/** Where jobs are stored, and whether project jobs are trusted. */
import { chmod, mkdir, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError } from "@pi-subagents/core";
import { isMissing } from "@pi-subagents/core/files";
import { hideFromGit } from "@pi-subagents/core/runs";
import type { Launcher, Scope } from "@pi-subagents/launch";
import { type Host, stateDir } from "../host/host.ts";

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
	return ctx.sessionManager.getSessionFile() ? stateDir(host.agentDir, "schedules", ctx) : undefined;
}

/** Whether the scheduler needs to be loaded. */
export async function holdsJobs(dir: string): Promise<boolean> {
	try {
		return (await readdir(dir)).some((name) => !name.startsWith("."));
	} catch (error) {
		if (isMissing(error)) return false;
		throw error;
	}
}

/** Jobs and their history are local to this machine and must not be committed. */
export async function prepareProjectDir(dir: string | undefined): Promise<void> {
	if (dir === undefined)
		throw new AgentError(
			"bad_request",
			"This project cannot store jobs: a link in its .pi points outside the project.",
		);
	await mkdir(dirname(dir), { recursive: true });
	await makeOwnDir(dir);
	hideFromGit(dir);
}

/** Holds the path of the session file that owns the jobs. Not a valid journal name. */
export const SESSION_FILE = ".session";

/** So that the jobs can be deleted with the session. */
export async function noteSession(dir: string, { sessionManager }: ExtensionContext): Promise<void> {
	await makeOwnDir(dir);
	const file = await open(join(dir, SESSION_FILE), "w", 0o600);
	try {
		await file.chmod(0o600); // in case the file existed
		await file.writeFile(`${sessionManager.getSessionFile() ?? ""}\n`);
	} finally {
		await file.close();
	}
}

/** Private: other users must not read the user's jobs. */
async function makeOwnDir(dir: string): Promise<void> {
	await mkdir(dir, { recursive: true, mode: 0o700 });
	await chmod(dir, 0o700);
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
