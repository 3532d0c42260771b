/** `/subagent agents`: lists the presets and their sources. */

import type { PresetReport } from "@pi-subagents/launch";
import type { Preset } from "@pi-subagents/presets";
import { formatCount, sanitize } from "@pi-subagents/progress";
import type { Block } from "@pi-subagents/widget/dialogs";
import type { CommandDeps, Subcommand } from "../subcommand.ts";

export function agentsCommand({ launcher }: CommandDeps): Subcommand {
	return {
		name: "agents",
		args: "",
		about: "list the presets",
		run: async (_rest, ctx) => presetBlocks(await launcher.presetReport(ctx)),
	};
}

export function presetBlocks({ presets, problems }: Pick<PresetReport, "presets" | "problems">): Block[] {
	const rows = presets.map((preset) => ({
		lead: [
			{ text: preset.name, tone: preset.enabled ? ("accent" as const) : ("muted" as const) },
			{ text: preset.enabled ? preset.source.kind : "off", tone: "muted" as const },
		],
		body: [{ text: preset.outputSchema ? `${firstSentence(preset)} Returns structured data.` : firstSentence(preset) }],
	}));
	const none = { text: "There are no presets yet: put markdown files into .pi/subagents/." };
	const faulty = new Set(problems.map(({ path }) => path)).size;
	const hint = `${formatCount(faulty, "file")} with problems; /subagent doctor lists them.`;
	return [rows.length === 0 ? none : { rows }, ...(faulty === 0 ? [] : [{ text: hint, tone: "warn" as const }])];
}

/** Enough to choose a preset. */
function firstSentence({ description }: Preset): string {
	const [sentence = ""] = sanitize(description).split(/(?<=[.!?]) /, 1);
	return sentence;
}
