/** `/subagent start`: hands a task to an agent in the background and goes on at once. */
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { AgentError, type AgentRecord } from "@pi-subagents/core";
import { USUAL_PRESET } from "../launch.ts";
import type { Survey } from "../presets.ts";
import { type Block, fields } from "./layout.ts";
import { presetOffers } from "./offers.ts";
import type { CommandDeps, Subcommand } from "./subcommand.ts";

export function startCommand({ launcher, manager }: CommandDeps): Subcommand {
	return {
		name: "start",
		args: "[preset:] <task>",
		about: `let an agent work on a task in the background; ${USUAL_PRESET} unless a preset is named`,
		offers: () => presetOffers(launcher.known()),
		async run(rest, ctx) {
			const { preset, task } = parseStart(rest, namesIn(await launcher.survey(ctx)));
			if (task === "") throw new AgentError("no_task", missingTask(preset));
			const { spec } = await launcher.resolve({ preset, task }, ctx);
			const record = manager.spawn(spec, { isBackground: true });
			return startedBlocks(record, [...spec.warnings, ...warningsOf(ctx)]);
		},
	};
}

/** A first word that is no preset belongs to the task. `names` are those that somebody may mean, in any case. */
export function parseStart(text: string, names: readonly string[]): { preset: string; task: string } {
	const trimmed = text.trim();
	const [, word = "", rest = ""] = /^([^\s:]+)(?:\s*:|\s|$)(.*)$/s.exec(trimmed) ?? [];
	const key = word.normalize("NFC").toLowerCase();
	const preset = names.find((name) => name.normalize("NFC").toLowerCase() === key);
	return preset === undefined ? { preset: USUAL_PRESET, task: trimmed } : { preset, task: rest.trim() };
}

/** Also those that are switched off or broken: who names one is told so, and gets no other in its place. */
function namesIn({ presets, problems }: Survey): string[] {
	const broken = problems.filter(({ severity }) => severity === "error").flatMap(({ preset }) => preset ?? []);
	return [...presets.map(({ name }) => name), ...broken];
}

function missingTask(preset: string): string {
	const named = preset === USUAL_PRESET ? "" : `${preset}: `;
	return `Say what the agent should do: /subagent start ${named}<task>`;
}

function warningsOf({ mode }: ExtensionCommandContext): string[] {
	if (mode !== "print" && mode !== "json") return [];
	return ["pi ends after its last message in this mode, and the agent with it."];
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
			text: `Its result will be told here. /subagent view ${id} shows it, /subagent stop ${id} ends it.`,
			tone: "muted",
		},
	];
}
