/** Makes a scene's project a repository with one commit. Returns what runs git there. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Scene } from "./scene.ts";

export async function asRepository({ env: { cwd } }: Scene): Promise<(...args: string[]) => Promise<string>> {
	const git = async (...args: string[]) =>
		(await promisify(execFile)("git", ["-C", cwd, "-c", "user.name=A", "-c", "user.email=a@b", ...args])).stdout.trim();
	await git("init", "-q");
	await git("add", "-A");
	await git("commit", "-qm", "first");
	return git;
}
