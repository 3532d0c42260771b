/** `/subagent view`: everything about one agent or one preset. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, billedTokens, findAgent, systemClock, workTokens } from "@pi-subagents/core";
import { nameKey, quoted } from "@pi-subagents/core/internal/base";
import { attemptsText, cachedPercentOf, worktreeLines, worktreeProblems } from "@pi-subagents/core/outcome-text";
import { loadPresets } from "@pi-subagents/launch";
import {
	checkOutput,
	endText,
	formatCost,
	formatCount,
	formatDuration,
	formatTokens,
	lookOf,
	sanitize,
} from "@pi-subagents/progress";
import { wholeOutcome } from "@pi-subagents/runs";
import { renderTree } from "@pi-subagents/widget";
import { type Block, fields, type Tone } from "@pi-subagents/widget/dialogs";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { agentLabel, currentAgents, durationOf, toneOf } from "../text/agent-text.ts";
import { agentCompletions, presetCompletions } from "./completions.ts";
import { listBlocks } from "./list.ts";
import { presetDetails } from "./view-preset.ts";

/** The answer is stored in the session file, so it is clipped. */
const TEXT_CHARACTERS = 4_000;
const TASK_CHARACTERS = 1_000;

/** Fits the width of most terminals. */
const TREE_COLUMNS = 78;
const TREE_LINES = 12;

export function viewCommand({ launcher, manager }: CommandDeps): Subcommand {
	const agents = () => currentAgents(manager);
	return {
		name: "view",
		args: "[id or preset]",
		about: "show everything about an agent or preset",
		completions: () => [...agentCompletions(agents()), ...presetCompletions(launcher.known())],
		async run(wanted, ctx) {
			const now = systemClock.now();
			if (wanted === "") return [...listBlocks(agents(), now), { text: HINT, tone: "muted" }];
			if (isNamed(agents(), wanted)) return details(findAgent(agents(), wanted), now);
			const preset = await findPreset(wanted, ctx);
			if (preset) return preset;
			if (agents().some(({ id }) => id.toLowerCase().startsWith(wanted.toLowerCase())))
				return details(findAgent(agents(), wanted), now);
			throw new AgentError("unknown_agent", `There is no agent and no preset ${quoted(wanted)}. ${WHERE}`);
		},
	};

	/** Its position in the tree, if it has relatives, then its details. */
	async function details(record: AgentRecord, now: number): Promise<Block[]> {
		const { id, parentAgentId } = record;
		const isAlone = parentAgentId === undefined && !agents().some((other) => other.parentAgentId === id);
		const about = await agentDetails(record, now);
		if (isAlone) return about;
		const size = { width: TREE_COLUMNS, maxLines: TREE_LINES };
		const tree = renderTree(agents(), { mode: "focused", focusId: id, now, ...size });
		return [{ text: tree.join("\n") }, ...about];
	}

	async function findPreset(name: string, ctx: ExtensionContext): Promise<Block[] | undefined> {
		const [library, { presets }] = await Promise.all([loadPresets(), launcher.presetReport(ctx)]);
		const preset = library.findPreset(presets, name);
		return preset && presetDetails(preset, library.fields);
	}
}

const HINT = "/subagent view <id> shows everything about one of them.";
const WHERE = "/subagent list shows the agents, /subagent agents the presets.";

/** An exact id or name wins over a preset of that name, which wins over an id prefix. */
function isNamed(agents: readonly AgentRecord[], wanted: string): boolean {
	const key = nameKey(wanted);
	return agents.some(({ id, name }) => id.toLowerCase() === key || (name !== undefined && nameKey(name) === key));
}

export async function agentDetails(record: AgentRecord, now: number): Promise<Block[]> {
	const { description, artifacts, question } = record;
	const outcome = record.outcome && (await wholeOutcome(record, record.outcome));
	const checked = checkOutput(outcome);
	const output = outcome?.status === "completed" ? outcome.text : outcome?.partialText;
	const more = (output?.length ?? 0) - TEXT_CHARACTERS;
	const rest = artifacts === undefined ? "" : `; all of it is in ${artifacts}/result.json`;
	return [
		{ text: `${agentLabel(record)}: ${sanitize(description)}`, tone: "strong" },
		fields(fieldsOf(record, now)),
		...(checked === "" ? [] : [{ text: checked, tone: "bad" as const }]),
		...(output === undefined || output.trim() === "" ? [] : [{ text: output.slice(0, TEXT_CHARACTERS) }]),
		...(more > 0 ? [{ text: `(${formatCount(more, "more character")}${rest})`, tone: "muted" as const }] : []),
		...(question === undefined
			? []
			: [{ text: `Answer with /subagent reply ${record.id} <text>.`, tone: "muted" as const }]),
	];
}

function fieldsOf(record: AgentRecord, now: number): (readonly [string, string, Tone | undefined])[] {
	const {
		task,
		model,
		cwd,
		runner,
		machine,
		launcher,
		run,
		parentAgentId,
		question,
		artifacts,
		queuedFor,
		startedAt,
		queuedAt,
	} = record;
	const pairs: [string, string | undefined, Tone?][] = [
		["status", statusText(record, now), toneOf(record)],
		["asks", question, "warn"],
		[
			"queued",
			queuedFor === undefined
				? undefined
				: `${queuedFor}${startedAt === undefined ? "" : `, for ${formatDuration(startedAt - queuedAt)}`}`,
		],
		["task", task.length > TASK_CHARACTERS ? `${task.slice(0, TASK_CHARACTERS - 1)}…` : task],
		["model", [model, attemptsText(record)].filter((each) => each).join(", ") || undefined],
		["cwd", cwd],
		["runner", runner === "session" ? undefined : runner],
		["machine", machine],
		["launcher", launcher],
		["run", run > 1 ? String(run) : undefined],
		["launched by", parentAgentId ?? launcherText(record)],
		["usage", usageText(record)],
		["last", lastText(record, now)],
		["files", artifacts],
		["worktree", worktreeText(record)],
	];
	return pairs.flatMap(([label, text, tone]) => (text === undefined ? [] : [[label, text, tone] as const]));
}

function worktreeText({ outcome }: AgentRecord): string | undefined {
	const lines = [...worktreeLines(outcome?.worktree), ...worktreeProblems(outcome?.worktree)];
	return lines.length === 0 ? undefined : lines.join("\n");
}

/** Undefined for the model, the usual launcher. */
function launcherText({ launchedBy = "model" }: AgentRecord): string | undefined {
	return { user: "you", model: undefined, rpc: "another extension", schedule: "a scheduled job" }[launchedBy];
}

/** Its last activity; a settled agent shows its outcome instead. */
function lastText({ outcome, activity, lastEventAt }: AgentRecord, now: number): string | undefined {
	if (outcome || activity === undefined) return undefined;
	return `${activity} (${formatDuration(Math.max(0, now - lastEventAt))} ago)`;
}

function statusText(record: AgentRecord, now: number): string {
	const { outcome, turns, maxTurns } = record;
	const durationMs = durationOf(record, now);
	if (!outcome) {
		const limit = maxTurns === undefined ? "" : ` of ${maxTurns}`;
		return `${lookOf(record).word} for ${formatDuration(durationMs)}, ${formatCount(turns, "turn")}${limit}`;
	}
	return endText(outcome, { durationMs });
}

function usageText(record: AgentRecord): string {
	const { turns, toolUses, usage, contextPercent, compactions } = record;
	const cached = billedTokens(usage) - workTokens(usage);
	return [
		formatCount(turns, "turn"),
		formatCount(toolUses, "tool call"),
		`${formatTokens(workTokens(usage))} tokens${cached > 0 ? ` and ${formatTokens(cached)} from the cache (${cachedPercentOf(record)}% of what it read)` : ""}`,
		...(usage.cost > 0 ? [formatCost(usage.cost)] : []),
		...(contextPercent === undefined || contextPercent < 1 ? [] : [`context ${Math.round(contextPercent)}% full`]),
		...(compactions > 0 ? [formatCount(compactions, "compaction")] : []),
	].join(", ");
}
