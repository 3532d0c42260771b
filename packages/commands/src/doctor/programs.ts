/** The programs agents need or can use, found by asking for their version. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "@earendil-works/pi-coding-agent";
import type { PresetReport } from "@pi-subagents/launch";
import { gitWith } from "@pi-subagents/worktree";
import type { Finding } from "./finding.ts";

/** `engines` of our package, and the oldest pi we test with. */
const MIN_NODE = "22.19.0";
const MIN_PI = "0.87.0";

/** Shorter than the doctor's own timeout. */
const PROGRAM_MS = 1_500;

export async function checkVersions(node = process.versions.node, pi = VERSION): Promise<Finding[]> {
	return [
		versionFinding("Node", node, MIN_NODE, "Install a newer Node, and start pi with it."),
		versionFinding("pi", pi, MIN_PI, "Update pi."),
	];
}

function versionFinding(name: string, version: string, least: string, fix: string): Finding {
	if (!isOlder(version, least)) return { level: "ok", text: `${name} ${version}` };
	return { level: "problem", text: `${name} ${version} is older than ${least}.`, fix };
}

function isOlder(version: string, than: string): boolean {
	const [a, b] = [version, than].map((each) => each.split(/[.-]/).map(Number)) as [number[], number[]];
	const at = b.findIndex((part, index) => (a[index] ?? 0) !== part);
	return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

export async function checkGit(cwd: string): Promise<Finding[]> {
	const version = await ask("git", ["--version"]);
	if (version === undefined)
		return [{ level: "hint", text: "git is not installed.", fix: "Presets with `isolation: worktree` need it." }];
	const look = gitWith()(["rev-parse", "--is-inside-work-tree"], { cwd, timeoutMs: PROGRAM_MS });
	const isInside = (await look.catch(() => "no")) === "true"; // a directory that git rejects does not count
	const where = isInside ? "; this is a repository" : "; this is not a repository, so agents cannot use worktrees here";
	return [{ level: "ok", text: `${version}${where}` }];
}

/** Needed only for the tmux runner. */
export async function checkTmux(report: PresetReport, env: NodeJS.ProcessEnv): Promise<Finding[]> {
	const version = await ask("tmux", ["-V"], env);
	if (version !== undefined) {
		const where = env.TMUX ? "; pi runs inside it" : "; pi does not run inside it";
		return [{ level: "ok", text: `${version}${where}` }];
	}
	const { config, presets, overrideOf } = report;
	const wanting = presets.filter((preset) => (overrideOf(preset).fields.runner ?? preset.runner) === "tmux");
	const who = [...(config.settings.runner === "tmux" ? ["your settings"] : []), ...wanting.map(({ name }) => name)];
	if (who.length === 0) return [{ level: "ok", text: "not installed, not needed" }];
	const fix = "Install tmux, or choose another `runner`.";
	return [{ level: "problem", text: `tmux is not installed, but requested by ${who.join(", ")}.`, fix }];
}

const SEARCH_PROGRAMS = [
	{ tool: "grep", names: ["rg"], label: "ripgrep" },
	{ tool: "find", names: ["fd", "fdfind"], label: "fd" },
] as const;

/** pi looks in its own directory first, then in PATH, and downloads them unless it is offline. */
export async function checkSearch(agentDir: string, env: NodeJS.ProcessEnv): Promise<Finding[]> {
	const found = await Promise.all(
		SEARCH_PROGRAMS.map(async ({ tool, names, label }): Promise<Finding> => {
			const own = join(agentDir, "bin", process.platform === "win32" ? `${names[0]}.exe` : names[0]);
			const versions = await Promise.all(
				[...(existsSync(own) ? [own] : []), ...names].map((name) => ask(name, ["--version"], env)),
			);
			const version = versions.find((each) => each !== undefined);
			if (version !== undefined) return { level: "ok", text: version };
			const fix = `Install ${label}, or start pi once while online.`;
			return { level: "problem", text: `${label} is missing: the agents' ${tool} tool does not work.`, fix };
		}),
	);
	return found;
}

/** The first line of the output; undefined if the program is missing or fails. */
function ask(program: string, args: readonly string[], env = process.env): Promise<string | undefined> {
	return new Promise((resolve, reject) => {
		const options = { timeout: PROGRAM_MS, killSignal: "SIGKILL" as const, windowsHide: true, env };
		execFile(program, args, options, (error, stdout) => {
			// For example, too many open files: that says nothing about the program.
			if (isUnstarted(error)) reject(new Error(`${program} could not be started: ${error.message}`));
			else resolve(error ? undefined : stdout.split("\n", 1)[0]?.trim());
		});
	});
}

function isUnstarted(error: (Error & { code?: unknown }) | null): error is Error {
	if (!error || !("syscall" in error) || typeof error.code !== "string") return false;
	return !["ENOENT", "EACCES"].includes(error.code);
}
