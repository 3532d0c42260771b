/** The directories that agents' files are kept in: whether they can be written, who else can, and what was left there. */
import { access, constants, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type AgentRecord, messageOf, runIdOf } from "@pi-subagents/core";
import { isAlive, RUN_FILES, readWrapper } from "@pi-subagents/core/process";
import { formatCount } from "@pi-subagents/progress";
import { loadPresets } from "../../presets.lazy.ts";
import { isMissing, namesIn } from "../../small-file.ts";
import type { Finding } from "./finding.ts";

export async function checkPlaces({ agentDir, cwd }: { agentDir: string; cwd: string }): Promise<Finding[]> {
	return Promise.all([
		placeFinding("pi's directory", agentDir),
		placeFinding("conversations", join(agentDir, "state", "subagents")),
		placeFinding("runs", await runsDirOf(cwd)),
	]);
}

/** Where `prepareRunsDir` would make it, without making it. */
async function runsDirOf(cwd: string): Promise<string> {
	const { findPresetRoot } = await loadPresets();
	return join((await findPresetRoot(cwd)) ?? cwd, ".pi", "subagents", "runs");
}

/** One that is not there yet is made where it can be. */
async function placeFinding(what: string, path: string): Promise<Finding> {
	try {
		const there = await stat(path);
		if (!there.isDirectory()) return { level: "problem", text: `${path} is no directory.`, fix: "Move it away." };
		await access(path, constants.W_OK | constants.X_OK);
		if (process.platform === "win32" || (there.mode & 0o002) === 0) return { level: "ok", text: `${what}: ${path}` };
		return { level: "problem", text: `Everybody can write in ${path}.`, fix: `chmod o-w ${path}` };
	} catch (error) {
		if (!isMissing(error))
			return { level: "problem", text: `${what}: ${path} cannot be written: ${messageOf(error)}`, fix: PERMISSIONS };
		const above = await placeFinding(what, dirname(path));
		return above.level === "ok" ? { level: "ok", text: `${what}: ${path} (not there yet)` } : above;
	}
}

const PERMISSIONS = "Make it writable for you.";

/** Another pi may be at work in what has no process of its own, even if it has not written anything for a while. */
const QUIET_MS = 24 * 60 * 60 * 1_000;

export async function checkLeftovers(cwd: string, agents: readonly AgentRecord[], now: number): Promise<Finding[]> {
	const dir = await runsDirOf(cwd);
	const live = new Set(
		agents.filter(({ outcome }) => !outcome).map(({ id: agentId, run }) => runIdOf({ agentId, run })),
	);
	const runs = (await namesIn(dir)).filter((name) => !name.startsWith("."));
	const isLeft = await Promise.all(runs.map((name) => !live.has(name) && isLeftover(join(dir, name), now)));
	const left = isLeft.filter(Boolean).length;
	if (left === 0) return [{ level: "ok", text: `${formatCount(runs.length, "run")} kept, none without an end` }];
	const text = `${formatCount(left, "run")} in ${dir} ended without a result: their process is gone.`;
	return [{ level: "hint", text, fix: "They can be deleted; old ones are, as `retention` in your settings says." }];
}

async function isLeftover(dir: string, now: number): Promise<boolean> {
	const files = await namesIn(dir);
	if (!files.includes(RUN_FILES.meta) || files.includes(RUN_FILES.result)) return false;
	const wrapper = await readWrapper(dir);
	if (wrapper?.type === "started") return !(await isAlive(wrapper));
	return now - (await stat(dir)).mtimeMs > QUIET_MS;
}
