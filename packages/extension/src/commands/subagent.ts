/** `/subagent`: what a person can ask about agents without the model. */
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { messageOf } from "@pi-subagents/core";
import { previewSession } from "@pi-subagents/core/session";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { Host } from "../host.ts";
import type { Launcher } from "../launch.ts";
import { explain } from "./explain.ts";

type Command = Parameters<ExtensionAPI["registerCommand"]>[1];

const NOTE = "subagents:note";

const HELP = `/subagent agents                    list the presets
/subagent explain <preset> [model]  what a preset would be started with, and why`;

export function subagentCommand(pi: ExtensionAPI, deps: { host: Host; launcher: Launcher }): Command {
	pi.registerEntryRenderer<{ text: string }>(
		NOTE,
		(entry) => new Text(sanitizeBlock(String(entry.data?.text ?? "")), 1, 0),
	);
	return {
		description: "List and explain sub-agent presets",
		getArgumentCompletions(prefix) {
			const typed = prefix.toLowerCase();
			const options = ["agents", "explain", ...deps.launcher.known().map(({ name }) => `explain ${name}`)];
			const level = options.filter((option) => option.includes(" ") === typed.includes(" "));
			const matching = level.filter((option) => option.toLowerCase().startsWith(typed));
			// An offer of what is already there would take the Enter key for itself.
			return matching.filter((option) => option.toLowerCase() !== typed).map((value) => ({ value, label: value }));
		},
		async handler(args, ctx) {
			const [command = "", ...words] = args.trim().split(/\s+/);
			try {
				show(pi, ctx, await answer(command, words, deps, ctx));
			} catch (error) {
				show(pi, ctx, messageOf(error));
			}
		},
	};
}

async function answer(
	command: string,
	[preset = "", model]: readonly string[],
	{ host, launcher }: { host: Host; launcher: Launcher },
	ctx: ExtensionCommandContext,
): Promise<string> {
	switch (command) {
		case "agents": {
			const presets = await launcher.presets(ctx);
			const width = Math.max(0, ...presets.map(({ name }) => name.length));
			const lines = presets.map(
				({ name, source, description }) =>
					`${name.padEnd(width)}  ${source.kind.padEnd(7)}  ${firstSentence(description)}`,
			);
			return lines.join("\n") || "No presets.";
		}
		case "explain": {
			if (preset === "") return `Which one?\n\n${HELP}`;
			const { preset: found, spec } = await launcher.resolve({ preset, task: "(the task)", model }, ctx);
			return explain(found, spec, await previewSession(host, spec));
		}
		default:
			return HELP;
	}
}

/** Enough to choose by, and short enough for most terminals. */
function firstSentence(description: string): string {
	const [sentence = ""] = sanitize(description).split(/(?<=[.!?]) /, 1);
	return sentence.length > 90 ? `${sentence.slice(0, 89)}…` : sentence;
}

/** In pi's screen a note that the model does not read; elsewhere whatever reaches the person. */
function show(pi: ExtensionAPI, ctx: ExtensionCommandContext, text: string): void {
	if (ctx.mode === "tui") pi.appendEntry(NOTE, { text });
	else if (ctx.hasUI) ctx.ui.notify(sanitizeBlock(text), "info");
	else console.log(sanitizeBlock(text));
}
