/** The directories that hold jobs, of a project or of a session. Does not load the scheduler. */
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentError } from "@pi-subagents/core";
import { isMissing } from "@pi-subagents/core/internal/base";
import { hideDirectory, hideFromGit, replaceWhole } from "@pi-subagents/core/internal/files";

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
export async function noteSession(dir: string, sessionFile: string | undefined): Promise<void> {
	await makeOwnDir(dir);
	await replaceWhole(join(dir, SESSION_FILE), `${sessionFile ?? ""}\n`, { isDurable: false });
}

/** Private: other users must not read the user's jobs. */
async function makeOwnDir(dir: string): Promise<void> {
	await mkdir(dir, { recursive: true, mode: 0o700 });
	hideDirectory(dir);
}
