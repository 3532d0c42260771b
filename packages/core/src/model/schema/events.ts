/** What the manager decides about an agent, as events: the schemas, and the types that are made from them. */
import { ADDRESSEES, ANSWERERS, NOTICE_LEVELS } from "@pi-subagents/progress";
import {
	count,
	event,
	maybeAmount,
	maybeText,
	maybeTrue,
	type Of,
	oneOf,
	outcomeSchema,
	schema,
	text,
	usageSchema,
} from "@pi-subagents/progress/schema";
import { Type } from "typebox";
import { agentIdentitySchema } from "./launch.ts";

/** A launch was accepted: the first event of every agent, and of every later run of it. */
export interface AgentQueued extends Of<typeof agentQueued> {}

const agentQueued = event("agent_queued", () => ({
	agent: agentIdentitySchema(),
	/** Why it could not start at once, for people. */
	waits: maybeText,
}));

/** A run began. */
export interface AgentStarted extends Of<typeof agentStarted> {}

const agentStarted = event("agent_started", () => ({}));

/** The running agent was sent a message. */
export interface AgentSteered extends Of<typeof agentSteered> {}

const agentSteered = event("agent_steered", () => ({ message: text }));

/** The agent asked a question and waits for the answer; again when the question is passed on, or is the next one. */
export interface AgentAsked extends Of<typeof agentAsked> {}

const agentAsked = event("agent_asked", () => ({
	/** Or the title of the dialog. */
	question: text,
	/** What to answer to, through the files of the run. Only in what is read from these. */
	id: maybeText,
	/** Background for the one who answers. */
	context: maybeText,
	/** Used if no answer comes in time. */
	defaultAnswer: maybeText,
	/** It is a dialog of an extension inside the agent, which only the user can answer, on the screen. */
	isDialog: maybeTrue,
	/** Who gets it. Absent in logs of older versions. */
	to: Type.Optional(oneOf(ADDRESSEES)),
	/** The name of the agent that gets it, if one does. */
	toName: maybeText,
}));

/** The agent's question was answered or declined. */
export interface AgentAnswered extends Of<typeof agentAnswered> {}

const agentAnswered = event("agent_answered", () => ({
	/** Who answered; `default` and `nobody` if no one did. Absent in logs of older versions. */
	by: Type.Optional(oneOf(ANSWERERS)),
}));

/** The call that waited for the agent returned; the agent continues in the background. */
export interface MovedToBackground extends Of<typeof movedToBackground> {}

const movedToBackground = event("moved_to_background", () => ({}));

/** Something for people beside what the child does: a file that could not be written, or a message of an extension in it. */
export interface Notice extends Of<typeof notice> {}

const notice = event("notice", () => ({
	text,
	/** With it, an extension in the child says it. */
	level: Type.Optional(oneOf(NOTICE_LEVELS)),
}));

/** The run is over. */
export interface AgentSettled extends Of<typeof agentSettled> {}

const agentSettled = event("agent_settled", () => ({
	outcome: outcomeSchema(),
	/** How long the run took, by the steady clock. When absent, the time since it started. */
	durationMs: maybeAmount,
	/** The agent's totals, where the events they come from are not available. */
	totals: Type.Optional(Type.Object({ turns: count, toolUses: count, usage: usageSchema() })),
}));

/** The whole result is in the run's files: the record need not hold all of it. */
export interface ResultArchived extends Of<typeof resultArchived> {}

const resultArchived = event("result_archived", () => ({}));

/** The schema of each event of an agent's life, by its type. */
export const lifeCycleSchemas = schema(() => ({
	agent_queued: agentQueued(),
	agent_started: agentStarted(),
	agent_steered: agentSteered(),
	agent_asked: agentAsked(),
	agent_answered: agentAnswered(),
	moved_to_background: movedToBackground(),
	notice: notice(),
	agent_settled: agentSettled(),
	result_archived: resultArchived(),
}));
