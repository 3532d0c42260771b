/** What every command gets, and how it finds the agent that the user means. */

import { sanitize } from "@pi-subagents/progress";
import {
	findRunsDirs,
	listRuns,
	type ResultFile,
	type RunList,
	type RunOverview,
	readCheckedResult,
	readMeta,
	runTextOf,
} from "@pi-subagents/runs";
import type { Output } from "./output.ts";

export interface Context {
	stdout: Output;
	env: Readonly<Record<string, string | undefined>>;
	cwd: string;
	/** pi's own directory. */
	agentDir: string;
	signal: AbortSignal;
	flags: Flags;
}

/** Those that were not given are false or undefined. */
interface Flags {
	json: boolean;
	all: boolean;
	follow: boolean;
	full: boolean;
	open: boolean;
	otlp: boolean;
	send: boolean;
	content: boolean;
	out: string | undefined;
	speed: string | undefined;
}

export interface Command {
	/** How many words follow it: at least and at most. */
	words: readonly [number, number];
	/** Resolves with the exit code. */
	call(context: Context, words: readonly string[]): Promise<number>;
}

/** For the user: what is wrong, and what to do. */
export class Failure extends Error {
	readonly code: number;

	constructor(message: string, code = 1) {
		super(message);
		this.code = code;
	}
}

export async function runsFor({ agentDir, cwd, flags }: Context): Promise<RunList> {
	const dirs = await findRunsDirs({ agentDir, cwd });
	return listRuns(dirs, { now: Date.now(), agentDir, ...(flags.all ? { perDirectory: 20_000 } : {}) });
}

/** How a run ended, as far as that can be believed; undefined until it has. */
export async function resultOf({ agentDir }: Context, { dir, runId }: RunOverview): Promise<ResultFile | undefined> {
	const meta = await readMeta(dir);
	const result = typeof meta === "string" ? undefined : await readCheckedResult(dir, meta.spec, { agentDir });
	return result?.runId === runId ? result : undefined;
}

export async function find(context: Context, word: string): Promise<RunOverview> {
	const { runs } = await runsFor(context);
	const found = matching(runs, word);
	const [only, ...others] = found;
	if (only && others.length === 0) return only;
	const shown = sanitize(word);
	if (!only) throw new Failure(noAgentText(shown, runs));
	const ids = found.slice(0, 10).map(({ agentId }) => sanitize(agentId));
	throw new Failure(`${shown} can be any of ${found.length} agents: ${ids.join(", ")}. Use a longer id.`);
}

/** By id or name; only then by the beginning of an id or a name. */
function matching(runs: readonly RunOverview[], word: string): RunOverview[] {
	const namesOf = ({ agentId, runId, name }: RunOverview) => [agentId, runId, ...(name === undefined ? [] : [name])];
	const exact = runs.filter((run) => namesOf(run).includes(word));
	if (exact.length > 0) return exact;
	return word === "" ? [] : runs.filter((run) => namesOf(run).some((name) => name.startsWith(word)));
}

const MAX_OF_PRESET = 5;

/** A preset stands for many agents, so its name says only which ones may be meant: its last ones. */
function noAgentText(word: string, runs: readonly RunOverview[]): string {
	const ofPreset = runs.filter(({ preset }) => sanitize(preset).toLowerCase() === word.toLowerCase());
	if (ofPreset.length === 0) return `No agent is called ${word}. \`pi-subagents list --all\` shows all of them.`;
	const now = Date.now();
	const lines = ofPreset.slice(0, MAX_OF_PRESET).map((run) => {
		const { who, status, age, about } = runTextOf(run, now);
		return `  ${who}  ${about}  (${status}, ${age})`;
	});
	return [
		`${word} is a preset, and this needs one of its agents: an id or a name.`,
		...lines,
		...(ofPreset.length > lines.length
			? [`  and ${ofPreset.length - lines.length} more: pi-subagents list --all`]
			: []),
		`What the preset itself says: /subagent view ${word} in pi.`,
	].join("\n");
}
