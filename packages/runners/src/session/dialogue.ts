/** Drives a conversation with a child that lives in a pi session of this process. */
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import type { Clock, RunSpec } from "@pi-subagents/core";
import { type Report, splitModelName } from "@pi-subagents/core";
import { messageOf, untilStopped, within } from "@pi-subagents/core/internal/base";
import { ConversationLoop, type ConversationOptions } from "@pi-subagents/core/internal/run";
import type { Mailbox } from "./mailbox.ts";

export interface Dialogue extends Omit<ConversationOptions, "channel" | "signal"> {
	session: AgentSession;
	mailbox: Mailbox;
	thinking: RunSpec["thinking"];
	/** Fires when the run is stopped. */
	stopping: AbortSignal;
	clock: Clock;
	report: Report;
}

/** How long a stopped child may keep running. */
const STOP_MS = 5_000;

/** Resolves when the run has ended or was stopped. */
export async function converse(dialogue: Dialogue): Promise<void> {
	const { session, mailbox, thinking, stopping, isOver } = dialogue;
	const start = currentLeaf(session);
	const loop = new ConversationLoop({
		...dialogue,
		signal: stopping,
		channel: {
			isIdle: () => true, // a prompt returns when the child is idle, and only we prompt it
			takeMessage: () => mailbox.takeNext(),
			async restartWith(model) {
				try {
					await branchFrom(session, start);
					await switchModel(session, model, thinking);
				} catch (error) {
					return messageOf(error);
				}
				mailbox.restart();
				return undefined;
			},
		},
	});
	let text: string | undefined = loop.opening;
	while (text !== undefined && !isOver()) {
		const refusal = await prompt(dialogue, text);
		text = await (refusal === undefined ? loop.next() : loop.restart(refusal));
	}
}

/**
 * Waits for the child; after a stop only for a limited time, as it may not listen. Returns why pi did not ask the
 * model, if so.
 */
async function prompt({ session, stopping, clock, report }: Dialogue, text: string): Promise<string | undefined> {
	// The text is for the model: a leading slash must not run a command.
	const run = session
		.prompt(text, { expandPromptTemplates: false, source: "extension" })
		.then(() => undefined, messageOf);
	const refusal = await untilStopped(run, stopping);
	if (!stopping.aborted || (await within(STOP_MS, run, clock))) return refusal;
	report(`A stopped agent is still busy after ${STOP_MS / 1_000} s and was abandoned.`);
	return undefined;
}

/** The current leaf of the conversation, to return to it. */
function currentLeaf({ sessionManager }: AgentSession): string | undefined {
	return sessionManager.getLeafId() ?? undefined;
}

/**
 * What follows this leaf stays in the session file on another branch; the next model does not read it. Without a
 * leaf, that is the whole conversation.
 */
async function branchFrom(session: AgentSession, leaf: string | undefined): Promise<void> {
	const target = leaf ?? session.sessionManager.getBranch()[0]?.id;
	if (target === undefined) return;
	const tools = session.getActiveToolNames();
	await session.navigateTree(target, { summarize: false });
	session.setActiveToolsByName(tools); // pi restores those of the target
}

/** Throws if the model does not exist or has no key. */
async function switchModel(session: AgentSession, name: string, thinking: RunSpec["thinking"]): Promise<void> {
	const { provider, id } = splitModelName(name);
	const model = session.modelRuntime.getModel(provider, id);
	if (!model) throw new Error(`Model ${name} is not available.`);
	await session.setModel(model);
	if (thinking !== undefined) session.setThinkingLevel(thinking);
}
