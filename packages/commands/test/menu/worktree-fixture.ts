/** A repository with checkouts that agents have closed, and some that a killed pi has left. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { closeWorktree, openWorktree, worktreesDir } from "@pi-subagents/worktree";
import type { World } from "./fixture.ts";

export async function repository(it: Pick<World, "cwd" | "agentDir">) {
	const git = async (...args: string[]) => (await promisify(execFile)("git", args, { cwd: it.cwd })).stdout.trim();
	await git("init", "--quiet", "--initial-branch=main");
	await git("config", "user.name", "Ada");
	await git("config", "user.email", "ada@example.org");
	await writeFile(join(it.cwd, "a.txt"), "one\ntwo\nthree\n");
	await git("add", ".");
	await git("commit", "--quiet", "-m", "first");
	const open = (id: string) =>
		openWorktree({
			cwd: it.cwd,
			dir: worktreesDir(it.agentDir),
			id,
			run: 1,
			base: "head",
			about: { type: "coder", description: "mend it", task: "Mend it." },
			sessionCwd: it.cwd,
		});
	/** One whose agent has ended well, after it wrote this. */
	const kept = async (id: string, content: string) => {
		const place = await open(id);
		await writeFile(join(place.root, "a.txt"), content);
		await closeWorktree(place);
	};
	/** One whose pi was killed. */
	const left = async (id: string, content: string) => {
		const place = await open(id);
		await writeFile(join(place.root, "a.txt"), content);
		await writeFile(`${place.root}.json`, JSON.stringify({ ...place, owner: { ...place.owner, pid: 99_999_999 } }));
		return place;
	};
	const branches = async () => (await git("branch", "--format=%(refname:short)")).split("\n");
	return { git, kept, left, branches };
}
