/** `/subagent start` launches an agent in the background; `/subagent stop` stops one and its sub-agents. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord, allAgents, findCandidate, nearest } from "@pi-subagents/core";
import { nameKey, quoted } from "@pi-subagents/core/internal/base";
import {
	continuedParams,
	DEFAULT_PRESET,
	type LaunchParams,
	type PresetReport,
	resumedParams,
} from "@pi-subagents/launch";
import { endText, formatCount, lookOf } from "@pi-subagents/progress";
import { type Block, fields, type Screen } from "@pi-subagents/widget/dialogs";
import { type ScreenDeps, screenFor } from "../screen/screen-tui.ts";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { agentLabel, durationOf, isActive } from "../text/agent-text.ts";
import { agentCompletions, presetCompletions } from "./completions.ts";
import { askHowToResume, turnCostOf, turnCostText } from "./resume-cost.ts";

export function startCommand({ launcher, manager }: CommandDeps): Subcommand {
	return {
		name: "start",
		args: "[preset:] <task>",
		about: `start an agent on a task in the background; ${DEFAULT_PRESET} unless a preset is named`,
		completions: () => presetCompletions(launcher.known()),
		async run(rest, ctx) {
			const { preset, task } = parseStart(rest, namesIn(await launcher.presetReport(ctx)));
			if (task === "") throw new AgentError("no_task", missingTask(preset));
			const { record, warnings } = await startAgent({ launcher, manager }, { preset, task }, ctx);
			return startedBlocks(record, [...warnings, ...warningsOf(ctx)]);
		},
	};
}

interface Launched {
	record: AgentRecord;
	warnings: readonly string[];
}

type LaunchDeps = Pick<CommandDeps, "launcher" | "manager">;

/** Started by the user: its questions and its result go to the user, without a turn of the session. */
export async function startAgent(
	{ launcher, manager }: LaunchDeps,
	request: { preset: string; task: string },
	ctx: ExtensionContext,
): Promise<Launched> {
	const { spec } = await launcher.resolve(request, ctx);
	return { record: manager.spawn(spec, { isBackground: true, launchedBy: "user" }), warnings: spec.warnings };
}

type ResumeDeps = LaunchDeps & { screen: Screen };

/** Agents that ended with their pi continue where they were. */
export async function resumeInterrupted(
	{ launcher, manager, ...parts }: LaunchDeps & ScreenDeps,
	agents: readonly AgentRecord[],
	ctx: ExtensionContext,
): Promise<void> {
	const screen = screenFor(ctx, parts);
	let count = 0;
	for (const agent of agents) {
		const { description } = agent;
		const request = { task: CONTINUE, description, ...continuedParams(agent) };
		const resumed = await resumeAgent({ launcher, manager, screen }, agent, request, ctx);
		if (resumed) count++;
		for (const warning of resumed?.warnings ?? []) ctx.ui.notify(warning, "warning");
	}
	if (count > 0) ctx.ui.notify(`Resumed ${formatCount(count, "agent")}; the results will appear here.`, "info");
}

const CONTINUE = "You were interrupted because pi quit. Continue your task where you left off, and finish it.";

/**
 * A finished agent's next run, in the place and the way of its last one. If its turns will be expensive, the user decides
 * first; undefined if they decide against it. Without a user, a warning says so.
 */
export async function resumeAgent(
	{ launcher, manager, screen }: ResumeDeps,
	agent: AgentRecord,
	request: Omit<LaunchParams, "preset">,
	ctx: ExtensionContext,
): Promise<Launched | undefined> {
	const { id, type: preset, outlives = false } = agent;
	const { spec } = await launcher.resolve({ preset, outlives, ...resumedParams(agent), ...request }, ctx);
	const turn = turnCostOf(agent, spec, ctx);
	const choice = turn && ctx.hasUI ? await askHowToResume(agent, turn, screen) : "as_is";
	if (choice === "cancel") return undefined;
	const next = choice === "compact" ? { ...spec, compactsFirst: true as const } : spec;
	const record = manager.resume(id, next, { isBackground: true, launchedBy: "user" });
	return { record, warnings: turn && !ctx.hasUI ? [...spec.warnings, turnCostText(turn)] : spec.warnings };
}

/**
 * A first word that is not a preset belongs to the task, unless a colon follows: then it must be a preset, so that a typo
 * does not start a different agent. `names` are the known presets, in any letter case.
 */
export function parseStart(text: string, names: readonly string[]): { preset: string; task: string } {
	const trimmed = text.trim();
	const [, word = "", rest = ""] = /^([^\s:]+)(?:\s*:|\s|$)(.*)$/s.exec(trimmed) ?? [];
	const key = nameKey(word);
	const preset = names.find((name) => nameKey(name) === key);
	if (preset !== undefined) return { preset, task: rest.trim() };
	const [, meant] = NAMED.exec(trimmed) ?? [];
	if (meant !== undefined) throw new AgentError("unknown_preset", noSuchPreset(meant, names));
	return { preset: DEFAULT_PRESET, task: trimmed };
}

/** URLs (`https://…`) and paths (`src/a.ts:12`, `C:\…`) are not preset names. */
const NAMED = /^([\p{L}\p{N}_][\p{L}\p{N}_-]*)\s*:(?!\/\/|\\)/u;

function noSuchPreset(word: string, names: readonly string[]): string {
	const hint = nearest(word, names);
	return [
		`There is no preset ${quoted(word)}.`,
		...(hint === undefined ? [] : [`Did you mean "${hint}"?`]),
		"/subagent agents lists the presets.",
		`If the task begins with that word: /subagent start ${DEFAULT_PRESET}: ${word}: …`,
	].join(" ");
}

/** Includes disabled and broken presets: naming one is an error, never a fallback to another. */
export function namesIn({ presets, problems }: PresetReport): string[] {
	const broken = problems.filter(({ severity }) => severity === "error").flatMap(({ preset }) => preset ?? []);
	return [...presets.map(({ name }) => name), ...broken];
}

function missingTask(preset: string): string {
	const named = preset === DEFAULT_PRESET ? "" : `${preset}: `;
	return `Say what the agent should do: /subagent start ${named}<task>`;
}

function warningsOf({ mode }: ExtensionContext): string[] {
	if (mode !== "print" && mode !== "json") return [];
	return ["In this mode pi exits after its last message and stops the agent."];
}

export function startedBlocks(record: AgentRecord, warnings: readonly string[]): Block[] {
	const { id, type, status, model = "", cwd, task } = record;
	return [
		{ text: `${status === "queued" ? "Queued" : "Started"} ${type} as ${id}.`, tone: "strong" },
		fields([
			["task", task],
			["model", model],
			["cwd", cwd],
		]),
		...warnings.map((text): Block => ({ text, tone: "warn" })),
		{
			text: `The result will appear here. /subagent view ${id} shows it, /subagent stop ${id} stops it.`,
			tone: "muted",
		},
	];
}

export function stopCommand({ manager }: CommandDeps): Subcommand {
	const agents = allAgents(manager, "user");
	return {
		name: "stop",
		args: "[id]",
		about: "stop an agent; the id is optional if only one is running",
		completions: () => agentCompletions(agents.list().filter(isActive)),
		run(rest) {
			const found = findCandidate(agents.list(), rest, { is: isActive, none: "No agent is running." });
			const wasActive = isActive(found);
			if (wasActive) agents.abort(found.id, { by: "user" });
			return stopBlocks(manager.store.record(found.id) ?? found, { wasActive });
		},
	};
}

export function stopBlocks(record: AgentRecord, { wasActive }: { wasActive: boolean }): Block[] {
	const { id, outcome } = record;
	const how = outcome ? endText(outcome, { durationMs: durationOf(record) }) : lookOf(record).word;
	if (!wasActive) return [{ text: `${agentLabel(record)} had already ended. ${how}.` }];
	const hasText = outcome !== undefined && outcome.status !== "completed" && outcome.partialText !== undefined;
	const hint: Block = { text: `Its output until then: /subagent view ${id}`, tone: "muted" };
	return [{ text: `${agentLabel(record)}: ${how}.`, tone: "strong" }, ...(hasText ? [hint] : [])];
}
