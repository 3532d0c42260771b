/** The programs that agents need, or can use: found by asking them for their version. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "@earendil-works/pi-coding-agent";
import type { Survey } from "../../presets.ts";
import type { Finding } from "./finding.ts";

/** As `engines` in our package says, and the oldest pi that this is tested with. */
const LEAST_NODE = "22.19.0";
const LEAST_PI = "0.87.0";

/** Longer than any of them takes, and shorter than the doctor waits. */
const PROGRAM_MS = 1_500;

export async function checkVersions(node = process.versions.node, pi = VERSION): Promise<Finding[]> {
	return [
		versionFinding("Node", node, LEAST_NODE, "Install a newer Node, and start pi with it."),
		versionFinding("pi", pi, LEAST_PI, "Update pi."),
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
	const isInside = (await ask("git", ["-C", cwd, "rev-parse", "--is-inside-work-tree"])) === "true";
	const where = isInside ? "; this is a repository" : "; this is no repository, so agents cannot have worktrees here";
	return [{ level: "ok", text: `${version}${where}` }];
}

/** Only who wants to watch agents in tmux needs it. */
export async function checkTmux(survey: Survey, env: NodeJS.ProcessEnv): Promise<Finding[]> {
	const version = await ask("tmux", ["-V"], env);
	if (version !== undefined) {
		const where = env.TMUX ? "; pi runs inside it" : "; pi does not run inside it";
		return [{ level: "ok", text: `${version}${where}` }];
	}
	const { config, presets, overrideOf } = survey;
	const wanting = presets.filter((preset) => (overrideOf(preset).fields.runner ?? preset.runner) === "tmux");
	const who = [...(config.settings.runner === "tmux" ? ["your settings"] : []), ...wanting.map(({ name }) => name)];
	if (who.length === 0) return [{ level: "ok", text: "not installed, and nothing needs it" }];
	const fix = "Install tmux, or choose another `runner`.";
	return [{ level: "problem", text: `tmux is not installed, but asked for by ${who.join(", ")}.`, fix }];
}

const SEARCHERS = [
	{ tool: "grep", names: ["rg"], called: "ripgrep" },
	{ tool: "find", names: ["fd", "fdfind"], called: "fd" },
] as const;

/** pi looks for them in its own directory first, then where all programs are. It fetches them itself, unless it is offline. */
export async function checkSearch(agentDir: string, env: NodeJS.ProcessEnv): Promise<Finding[]> {
	const found = await Promise.all(
		SEARCHERS.map(async ({ tool, names, called }): Promise<Finding> => {
			const own = join(agentDir, "bin", process.platform === "win32" ? `${names[0]}.exe` : names[0]);
			const versions = await Promise.all(
				[...(existsSync(own) ? [own] : []), ...names].map((name) => ask(name, ["--version"], env)),
			);
			const version = versions.find((each) => each !== undefined);
			if (version !== undefined) return { level: "ok", text: version };
			const fix = `Install ${called}, or start pi once with a connection to the network.`;
			return { level: "problem", text: `${called} is missing: the tool ${tool} of agents does not work.`, fix };
		}),
	);
	return found;
}

/** The first line of what the program says; undefined when it is not there or does not say it. */
function ask(program: string, args: readonly string[], env = process.env): Promise<string | undefined> {
	return new Promise((resolve) => {
		const options = { timeout: PROGRAM_MS, killSignal: "SIGKILL" as const, windowsHide: true, env };
		execFile(program, args, options, (error, stdout) => resolve(error ? undefined : stdout.split("\n", 1)[0]?.trim()));
	});
}
