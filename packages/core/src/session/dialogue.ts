/**
 * Asks a child one thing after the other, until its answer stands: its task, what it was told when it had just finished,
 * a better answer, or its task once more with another model.
 */
import type { AgentSession } from "@earendil-works/pi-coding-agent";
import type { AssistantText, Outcome } from "@pi-subagents/progress";
import { messageOf, type Report } from "../best-effort.ts";
import type { Clock } from "../clock.ts";
import type { Emit, RunSpec } from "../runner.ts";
import type { Sequel } from "../sequel.ts";
import type { Mailbox } from "./mailbox.ts";
import { untilStopped, within } from "./patience.ts";
import { goBack, placeIn, switchModel } from "./switch-model.ts";

export interface Dialogue {
	session: AgentSession;
	sequel: Sequel;
	mailbox: Mailbox;
	thinking: RunSpec["thinking"];
	/** Fires when the run is stopped. */
	stopping: AbortSignal;
	/** Nothing may be asked any more. */
	isOver(): boolean;
	/** How the run would end now, and with which message. */
	verdict(): { outcome: Outcome; last: AssistantText | undefined };
	/** Whether the child may be asked again. If not, the run has ended, like this where nothing else is to be said. */
	mayGoOn(otherwise: Outcome): Promise<boolean>;
	end(outcome: Outcome): void;
	/** How a run ends that failed for this reason. */
	failed(why: string): Outcome;
	emit: Emit;
	clock: Clock;
	report: Report;
}

/** How long what a child does may ignore that the child was stopped. */
const STOP_MS = 5_000;

export async function converse(dialogue: Dialogue): Promise<void> {
	const { session, sequel, mailbox, isOver } = dialogue;
	const beginning = placeIn(session);
	let text: string | undefined = sequel.opening;
	while (text !== undefined && !isOver()) {
		const refusal = await prompt(dialogue, text);
		if (refusal !== undefined) text = await beginAnew(dialogue, beginning, refusal);
		else text = mailbox.takeNext() ?? (await goOn(dialogue, beginning));
	}
}

/**
 * Waits for the child; when it is stopped, no longer than is decent for what may not listen. Returns why pi did not
 * even ask the model, if it did not.
 */
async function prompt({ session, stopping, clock, report }: Dialogue, text: string): Promise<string | undefined> {
	// The text is for the model: a leading slash must not run a command.
	const run = session
		.prompt(text, { expandPromptTemplates: false, source: "extension" })
		.then(() => undefined, messageOf);
	const refusal = await untilStopped(run, stopping);
	if (!stopping.aborted || (await within(STOP_MS, run, clock))) return refusal;
	report(`An agent that was stopped is still busy after ${STOP_MS / 1_000} s; it is left behind.`);
	return undefined;
}

/** What the child is asked next. Nothing when that was all. */
async function goOn(dialogue: Dialogue, beginning: string | undefined): Promise<string | undefined> {
	const { sequel, mailbox, stopping, isOver, verdict, mayGoOn, end } = dialogue;
	if (isOver()) return undefined;
	const { outcome, last } = verdict();
	const next = await untilStopped(sequel.after(outcome, last), stopping);
	switch (next?.does) {
		case "settle": {
			const late = mailbox.takeNext(); // said while the answer was looked at
			if (late === undefined) end(next.outcome);
			return late;
		}
		case "ask":
			return (await mayGoOn(next.otherwise)) ? next.text : undefined;
		case "fall_back":
			return beginAnew(dialogue, beginning, next.error);
		case undefined:
			return undefined;
	}
}

/** With the next model that can be had, as if nothing had been said to this one. */
async function beginAnew(
	{ session, sequel, mailbox, thinking, isOver, mayGoOn, end, failed, emit }: Dialogue,
	beginning: string | undefined,
	error: string,
): Promise<string | undefined> {
	let why = error;
	for (let other = sequel.fallBack(why); other && !isOver(); other = sequel.fallBack(why)) {
		emit(other);
		try {
			await goBack(session, beginning);
			await switchModel(session, other.to, thinking);
		} catch (failure) {
			why = messageOf(failure);
			continue;
		}
		mailbox.beginAnew();
		return (await mayGoOn(failed(why))) ? sequel.opening : undefined;
	}
	end(failed(why));
	return undefined;
}
