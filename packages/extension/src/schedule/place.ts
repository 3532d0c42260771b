/** Where jobs are kept, and whether those of a project count. */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError } from "@pi-subagents/core";
import { type Host, stateDir } from "../host.ts";
import type { Launcher } from "../launch.ts";
import { isMissing } from "../small-file.ts";
import type { Scope } from "./request.ts";

/**
 * Nothing for a session without a file: it is never opened again, so its jobs need no place either. Nothing for a project
 * in which a link leads out of it: whatever is there, it is not the project's.
 */
export async function directoryOf(
	scope: Scope,
	ctx: ExtensionContext,
	{ host, launcher }: { host: Host; launcher: Launcher },
): Promise<string | undefined> {
	if (scope === "project") return launcher.placeFor("schedules", ctx);
	return ctx.sessionManager.getSessionFile() ? stateDir(host.agentDir, "schedules", ctx) : undefined;
}

/** Whether it is worth loading what reads them. */
export async function holdsJobs(dir: string): Promise<boolean> {
	try {
		return (await readdir(dir)).some((name) => !name.startsWith("."));
	} catch (error) {
		if (isMissing(error)) return false;
		throw error;
	}
}

/** Jobs, and what became of them, are this machine's; they would make noise in everybody's commits. */
export async function prepareProjectDir(dir: string | undefined): Promise<void> {
	if (dir === undefined)
		throw new AgentError("bad_request", "This project can keep no jobs: a link in its .pi leads out of the project.");
	await mkdir(dir, { recursive: true });
	try {
		await writeFile(join(dir, ".gitignore"), "*\n", { flag: "wx" });
	} catch (error) {
		if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
	}
}

/** Says whose jobs these are: the path of the session's file. Its name is none of a journal. */
export const SESSION_FILE = ".session";

/** So that they can be deleted when the session is. */
export async function noteSession(dir: string, { sessionManager }: ExtensionContext): Promise<void> {
	await mkdir(dir, { recursive: true });
	await writeFile(join(dir, SESSION_FILE), `${sessionManager.getSessionFile() ?? ""}\n`);
}

/** What lies in a project may have been written by a stranger, and a job runs without being asked. */
export function isTrusted(host: Host, { cwd }: Pick<ExtensionContext, "cwd">): boolean {
	return host.storedTrust(cwd) === "yes";
}

export function assertTrusted(host: Host, ctx: Pick<ExtensionContext, "cwd">): void {
	if (isTrusted(host, ctx)) return;
	throw new AgentError(
		"bad_request",
		"Jobs of a project run only where you have said that you trust it: /trust does. A job of this session needs no trust.",
	);
}
