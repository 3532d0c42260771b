/** The directories of agents' files: whether they are writable, by whom, and what crashes left behind. */
import { access, constants, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AgentRecord, runIdOf } from "@pi-subagents/core";
import { isMissing, messageOf } from "@pi-subagents/core/internal/base";
import { namesIn } from "@pi-subagents/core/internal/files";
import { loadPresets } from "@pi-subagents/launch";
import { formatCount } from "@pi-subagents/progress";
import { livingWrapper, RUN_FILES } from "@pi-subagents/runs";
import { listWorktrees } from "@pi-subagents/worktree";
import type { Finding } from "./finding.ts";

export async function checkDirectories({ agentDir, cwd }: { agentDir: string; cwd: string }): Promise<Finding[]> {
	return Promise.all([
		directoryFinding("pi's directory", agentDir),
		directoryFinding("conversations", join(agentDir, "state", "subagents")),
		directoryFinding("runs", await runsDirOf(cwd)),
	]);
}

/** The directory `prepareRunsDir` would create, without creating it. */
async function runsDirOf(cwd: string): Promise<string> {
	const { findPresetRoot } = await loadPresets();
	return join((await findPresetRoot(cwd)) ?? cwd, ".pi", "subagents", "runs");
}

/** For a missing directory, checks whether its parent is writable. */
async function directoryFinding(what: string, path: string): Promise<Finding> {
	try {
		const there = await stat(path);
		if (!there.isDirectory())
			return { level: "problem", text: `${path} is not a directory.`, fix: "Move it elsewhere." };
		await access(path, constants.W_OK | constants.X_OK);
		if (process.platform === "win32" || (there.mode & 0o002) === 0) return { level: "ok", text: `${what}: ${path}` };
		return { level: "problem", text: `${path} is writable by everyone.`, fix: `chmod o-w ${path}` };
	} catch (error) {
		if (!isMissing(error))
			return { level: "problem", text: `${what}: ${path} is not writable: ${messageOf(error)}`, fix: PERMISSIONS };
		const above = await directoryFinding(what, dirname(path));
		return above.level === "ok" ? { level: "ok", text: `${what}: ${path} (not created yet)` } : above;
	}
}

const PERMISSIONS = "Make it writable for your user.";

/** A run without its own process may belong to another pi that has not written for a while. */
const QUIET_MS = 24 * 60 * 60 * 1_000;

export async function checkLeftovers(
	{ agentDir, cwd }: { agentDir: string; cwd: string },
	agents: readonly AgentRecord[],
	now: number,
): Promise<Finding[]> {
	const dir = await runsDirOf(cwd);
	const live = new Set(
		agents.filter(({ outcome }) => !outcome).map(({ id: agentId, run }) => runIdOf({ agentId, run })),
	);
	const runs = (await namesIn(dir)).filter((name) => !name.startsWith("."));
	const isLeft = await Promise.all(runs.map((name) => !live.has(name) && isLeftover(join(dir, name), agentDir, now)));
	const left = isLeft.filter(Boolean).length;
	if (left === 0) return [{ level: "ok", text: `${formatCount(runs.length, "run")} kept, all finished` }];
	const text = `${formatCount(left, "run")} in ${dir} ended without a result: their process is gone.`;
	return [{ level: "hint", text, fix: "They can be deleted; `retention` in your settings removes old ones." }];
}

async function isLeftover(dir: string, agentDir: string, now: number): Promise<boolean> {
	const files = await namesIn(dir);
	if (!files.includes(RUN_FILES.meta) || files.includes(RUN_FILES.result)) return false;
	if (files.includes(RUN_FILES.wrapper)) return (await livingWrapper({ agentDir, runDir: dir })) === undefined;
	return now - (await stat(dir)).mtimeMs > QUIET_MS;
}

export async function checkWorktrees(agentDir: string): Promise<Finding[]> {
	const all = await listWorktrees({ agentDir });
	const left = all.filter(({ state }) => state === "left");
	const kept = all.filter(({ state }) => state === "kept").length;
	const waiting = `${formatCount(kept, "branch", "branches")} of agents to review`;
	if (left.length === 0)
		return [{ level: "ok", text: kept === 0 ? "none left behind" : `none left behind; ${waiting}` }];
	return left.map(({ record, isChanged }) => ({
		level: "hint",
		text: `${record.root} was left by agent ${record.agentId}, with ${isChanged ? "uncommitted or unmerged changes" : "no changes"}.`,
		fix: "In /agents, under Worktrees: review it, keep it on its branch, or discard it.",
	}));
}
