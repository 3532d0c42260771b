/** Acts on `@name message`: steers, answers, resumes or starts an agent, without a turn of the session's model. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, allAgents } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import type { Block } from "@pi-subagents/widget/dialogs";
import { type ScreenDeps, screenFor } from "../screen/screen-tui.ts";
import { namesIn, resumeAgent, startAgent } from "../subagent/start-stop.ts";
import type { CommandDeps } from "../subcommand.ts";
import { agentLabel } from "../text/agent-text.ts";
import { show } from "../text/note.ts";
import { type Mention, mentionIn, mentionItems, textForModel } from "./mention.ts";
import type { MentionCode } from "./register.ts";

/** The note is kept in the session file; the agent has the whole message. */
const ECHO_CHARACTERS = 500;

type ToAgent = Exclude<Mention, { to: "main" }>;

export function mentions(pi: ExtensionAPI, deps: Pick<CommandDeps, "launcher" | "manager"> & ScreenDeps): MentionCode {
	const { launcher, manager } = deps;
	const agents = allAgents(manager, "user");
	return {
		async handle({ text, images = [] }, ctx) {
			const { mentions: setting } = await launcher.settings(ctx);
			if (setting === "off" || images.length > 0) return undefined; // agents cannot be sent images
			const presets = namesIn(await launcher.presetReport(ctx));
			const isFile = (name: string) => existsSync(join(ctx.cwd, name));
			const mention = mentionIn(text, { agents: agents.list(), presets, isFile });
			if (!mention) return undefined;
			if (mention.to === "main") return { action: "transform", text: mention.message };
			// Without a user, only what the model says reaches anyone.
			if (setting === "model" || !ctx.hasUI) return { action: "transform", text: textForModel(text, mention) };
			await handleDirectly(text, mention, ctx);
			return { action: "handled" };
		},
		suggest: (typed) =>
			launcher.latest().mentions === "off"
				? []
				: mentionItems(typed, { agents: agents.list(), presets: launcher.known() }),
	};

	async function handleDirectly(text: string, mention: ToAgent, ctx: ExtensionContext): Promise<void> {
		const echo: Block = { text: text.length > ECHO_CHARACTERS ? `${text.slice(0, ECHO_CHARACTERS)}…` : text };
		try {
			const said = await act(mention, ctx);
			if (said) show(pi, ctx, [echo, ...said]);
			else giveBack(text, ctx);
		} catch (error) {
			show(pi, ctx, [echo, { text: messageOf(error), tone: "bad" }], "error");
			giveBack(text, ctx);
		}
	}

	/** Undefined if the user decided against it. */
	async function act(mention: ToAgent, ctx: ExtensionContext): Promise<Block[] | undefined> {
		const { message } = mention;
		if (mention.to === "preset") {
			const { record, warnings } = await startAgent(deps, { preset: mention.preset, task: message }, ctx);
			return saidBlocks(record, record.status === "queued" ? QUEUED : STARTED, warnings);
		}
		const { agent, does } = mention;
		if (does === "resume") {
			const resumed = await resumeAgent({ ...deps, screen: screenFor(ctx, deps) }, agent, { task: message }, ctx);
			if (!resumed) return undefined;
			const { record, warnings } = resumed;
			return saidBlocks(record, "is running again; the result will appear here.", warnings);
		}
		if (does === "answer") agents.answer(agent.id, message);
		else agents.steer(agent.id, message);
		return saidBlocks(agent, does === "answer" ? "has your answer." : "has your message.");
	}
}

/** To correct and send again. */
function giveBack(text: string, { mode, ui }: ExtensionContext): void {
	if (mode === "tui" && ui.getEditorText() === "") ui.setEditorText(text);
}

const STARTED = "has started; the result will appear here.";
const QUEUED = "is queued; the result will appear here.";

function saidBlocks(agent: AgentRecord, what: string, warnings: readonly string[] = []): Block[] {
	return [
		{ text: `→ ${agentLabel(agent)} ${what}`, tone: "muted" },
		...warnings.map((text): Block => ({ text, tone: "warn" })),
	];
}
