/** `/subagent report`: writes what agents did, took and cost as one HTML file, and says where it is. */
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { AgentError, quoted, systemClock } from "@pi-subagents/core";
import { hideFromGit } from "@pi-subagents/core/runs";
import { diffWorktree, listWorktrees, worktreesDir } from "@pi-subagents/core/worktree";
import { formatCount } from "@pi-subagents/progress";
import type { FoundRuns, ReadOptions, RunInput } from "@pi-subagents/report";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { agentCompletions } from "./completions.ts";
import { loadReport } from "./report.lazy.ts";

const USAGE = "/subagent report [id|all] [--full]";
const HINT = "Open it in a browser; it needs no network. --full adds tool output, file contents and diffs.";

export function reportCommand({ host, launcher, manager, flushLogs }: CommandDeps): Subcommand {
	return {
		name: "report",
		args: "[id|all] [--full]",
		about: "write an HTML report about this session's agents, one of them, or all in this project",
		completions: () => agentCompletions(manager.store.snapshot().records),
		async run(rest, ctx) {
			const { wanted, isFull } = argumentsIn(rest);
			const { buildReport, knownSecrets, withDescendants, writeHtmlReport } = await loadReport();
			await flushLogs?.();
			const options = isFull ? { isFull, diffOf: await diffsOf(host.agentDir) } : {};
			const { runs: found, problems } = await read(wanted === "all", ctx, options);
			const runs = wanted === undefined || wanted === "all" ? found : withDescendants(found, agentIdIn(found, wanted));
			if (runs.length === 0) throw new AgentError("unknown_agent", `There is nothing to report yet. ${USAGE}`);
			const secrets = await knownSecrets({ env: process.env, authFile: join(host.agentDir, "auth.json") });
			const now = systemClock.now();
			const report = buildReport(runs, { now, isFull, problems, secrets });
			const path = await writeHtmlReport(report, join(await placeFor(ctx), `${stamp(now)}.html`));
			return [
				{ text: `Report about ${formatCount(report.agents.length, "run")}: ${path}` },
				{ text: HINT, tone: "muted" },
			];
		},
	};

	async function read(isAll: boolean, ctx: ExtensionCommandContext, options: ReadOptions): Promise<FoundRuns> {
		const { readRunDirs, readSessionRuns } = await loadReport();
		const dir = isAll ? await launcher.placeFor("runs", ctx) : undefined;
		return dir === undefined ? readSessionRuns(ctx.sessionManager.getEntries(), options) : readRunDirs(dir, options);
	}

	/** In the project, hidden from git; elsewhere if that is not possible. */
	async function placeFor(ctx: ExtensionCommandContext): Promise<string> {
		const dir = await launcher.placeFor("reports", ctx);
		if (dir === undefined) return mkdtemp(join(tmpdir(), "pi-subagents-report-"));
		await mkdir(dir, { recursive: true, mode: 0o700 });
		hideFromGit(dir);
		return dir;
	}
}

function argumentsIn(rest: string): { wanted: string | undefined; isFull: boolean } {
	const words = rest.split(/\s+/).filter((word) => word !== "");
	const [wanted, ...more] = words.filter((word) => word !== "--full");
	const odd = more[0] ?? (wanted?.startsWith("-") ? wanted : undefined);
	if (odd !== undefined) throw new AgentError("bad_request", `Unknown argument ${quoted(odd)}: use ${USAGE}.`);
	return { wanted, isFull: words.includes("--full") };
}

/** By its id, its name, or the beginning of only one id. */
function agentIdIn(runs: readonly RunInput[], wanted: string): string {
	const isMeant = ({ agentId, name }: RunInput["meta"]) => agentId === wanted || name === wanted;
	const exact = runs.filter(({ meta }) => isMeant(meta));
	const meant = exact.length > 0 ? exact : runs.filter(({ meta }) => meta.agentId.startsWith(wanted));
	const [only, ...others] = new Set(meant.map(({ meta }) => meta.agentId));
	if (only !== undefined && others.length === 0) return only;
	const what = only === undefined ? "There is no agent" : "Several agents are called";
	const known = [...new Set(runs.map(({ meta }) => meta.agentId))].slice(-20).join(", ");
	throw new AgentError("unknown_agent", `${what} ${quoted(wanted)}. Known: ${known || "none"}.`);
}

/** The changes of the worktrees that still exist, by their branches. */
export async function diffsOf(agentDir: string): Promise<NonNullable<ReadOptions["diffOf"]>> {
	const listed = await listWorktrees({ dir: worktreesDir(agentDir) });
	return async ({ result }) => {
		const branch = result?.outcome.worktree?.branch;
		const found = listed.find(({ record }) => record.branch === branch);
		return found && (await diffWorktree(found.record));
	};
}

/** Sorts by time, and is a file name everywhere. */
function stamp(now: number): string {
	return new Date(now).toISOString().slice(0, 19).replaceAll(":", "-");
}
