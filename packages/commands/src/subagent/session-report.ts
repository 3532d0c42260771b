/** The report behind `/subagent report`, `trace` and `dashboard`: which runs are meant, and where files about them go. */
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError, systemClock } from "@pi-subagents/core";
import { quoted } from "@pi-subagents/core/internal/base";
import { hideFromGit } from "@pi-subagents/core/internal/files";
import type { Report, RunCache, RunInput } from "@pi-subagents/report";
import type { CommandDeps } from "../subcommand.ts";
import { loadReport } from "./report.lazy.ts";

export interface Wanted {
	/** An id or a name, `all` for every run that the project keeps; absent for those of the session. */
	which?: string | undefined;
	isFull?: boolean;
	cache?: RunCache;
}

export type SessionEntries = Pick<ExtensionContext["sessionManager"], "getEntries">;

/** Reads `[id|all]` and the given options. */
export function argumentsIn<Flag extends string>(
	rest: string,
	flags: readonly Flag[],
	usage: string,
): { which: string | undefined; given: ReadonlySet<Flag> } {
	const words = rest.split(/\s+/).filter((word) => word !== "");
	const isFlag = (word: string): word is Flag => flags.some((flag) => flag === word);
	const [which, ...more] = words.filter((word) => !isFlag(word));
	const odd = more[0] ?? (which?.startsWith("-") ? which : undefined);
	if (odd !== undefined) throw new AgentError("bad_request", `Unknown argument ${quoted(odd)}: use ${usage}.`);
	return { which, given: new Set(words.filter(isFlag)) };
}

/** Fails if there is nothing to report. Secrets are masked. */
export async function reportOf(
	deps: CommandDeps,
	ctx: ExtensionContext,
	wanted: Wanted & { usage: string },
): Promise<Report> {
	const dir = wanted.which === "all" ? await deps.launcher.placeFor("runs", ctx) : undefined;
	const report = await currentReport(deps, dir ?? ctx.sessionManager, wanted);
	if (report.agents.length === 0)
		throw new AgentError("unknown_agent", `There is nothing to report yet. ${wanted.usage}`);
	return report;
}

/** As it is now: of a session, or of a directory of runs. */
export async function currentReport(
	{ host, flushLogs }: CommandDeps,
	source: SessionEntries | string,
	{ which, isFull = false, cache }: Wanted,
): Promise<Report> {
	const { buildReport, knownSecrets, readRunDirs, readSessionRuns, withDescendants, worktreeDiffs } =
		await loadReport();
	await flushLogs?.();
	const { agentDir } = host;
	const options = {
		agentDir,
		...(cache ? { cache } : {}),
		...(isFull ? { isFull, diffOf: await worktreeDiffs(agentDir) } : {}),
	};
	const { runs, problems } =
		typeof source === "string"
			? await readRunDirs(source, options)
			: await readSessionRuns(source.getEntries(), options);
	const meant = which === undefined || which === "all" ? runs : withDescendants(runs, agentIdIn(runs, which));
	const files = { authFile: join(host.agentDir, "auth.json"), modelsFile: join(host.agentDir, "models.json") };
	const secrets = await knownSecrets({ env: process.env, ...files });
	return buildReport(meant, { now: systemClock.now(), isFull, problems, secrets });
}

/** A new file in the project, hidden from git; elsewhere if that is not possible. */
export async function fileFor({ launcher }: CommandDeps, ctx: ExtensionContext, ending: string): Promise<string> {
	// Sorts by time, and is a file name everywhere.
	const name = `${new Date(systemClock.now()).toISOString().slice(0, 19).replaceAll(":", "-")}${ending}`;
	const dir = await launcher.placeFor("reports", ctx);
	if (dir === undefined) return join(await mkdtemp(join(tmpdir(), "pi-subagents-report-")), name);
	await mkdir(dir, { recursive: true, mode: 0o700 });
	hideFromGit(dir);
	return join(dir, name);
}

/** By its id, its name, or the beginning of only one id. */
function agentIdIn(runs: readonly RunInput[], wanted: string): string {
	const isMeant = ({ agentId, agent }: RunInput) => agentId === wanted || agent.name === wanted;
	const exact = runs.filter(isMeant);
	const meant = exact.length > 0 ? exact : runs.filter(({ agentId }) => agentId.startsWith(wanted));
	const [only, ...others] = new Set(meant.map(({ agentId }) => agentId));
	if (only !== undefined && others.length === 0) return only;
	const what = only === undefined ? "There is no agent" : "Several agents are called";
	const known = [...new Set(runs.map(({ agentId }) => agentId))].slice(-20).join(", ");
	throw new AgentError("unknown_agent", `${what} ${quoted(wanted)}. Known: ${known || "none"}.`);
}
