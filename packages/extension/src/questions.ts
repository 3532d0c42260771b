/**
 * Brings the questions of agents to who can answer: to the session as a message, when it can take a turn; else to the
 * user, one dialog at a time, since pi shows only one and a second would close the first.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, type AskedQuestion, type Audience, bestEffort, type Manager } from "@pi-subagents/core";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { fenced } from "./delivery/notification.ts";
import type { SessionStates } from "./delivery/session-state.ts";
import type { Host } from "./host.ts";

export interface Questions {
	audience: Audience;
	/** Brings a question to its addressee, if that is the session or the user. */
	ask(question: AskedQuestion, manager: Manager): void;
	/** The questions that the session has not heard yet, as messages. They count as heard. */
	takeMessages(): QuestionMessage[];
	/** Hears when there is something to take. */
	onMessage(listener: () => void): void;
}

/** The type of message that brings a question to the session. */
export const QUESTION = "subagent-feedback-request";

interface QuestionMessage {
	customType: typeof QUESTION;
	display: true;
	content: string;
	details: { agentId: string; question: string };
}

/** The tool with which the session answers; without it, it cannot. */
const ANSWER_TOOL = "reply_subagent";

export function createQuestions(pi: ExtensionAPI, host: Host, states: SessionStates): Questions {
	const unheard: { question: AskedQuestion; manager: Manager }[] = [];
	const listeners: (() => void)[] = [];
	let line = Promise.resolve();
	let isIdle = false;

	const takeMessages = () =>
		unheard.splice(0).flatMap(({ question, manager }) => {
			const record = manager.store.record(question.agentId);
			return record && isOpen(question, manager) ? [messageFor(question, record)] : [];
		});
	const tellSession = () => {
		if (!isIdle) return;
		for (const message of takeMessages()) {
			isIdle = false; // a turn begins; what is asked meanwhile waits for its end
			void bestEffort("telling the session of a question", host.tell, () =>
				pi.sendMessage(message, { triggerTurn: true, deliverAs: "followUp" }),
			);
		}
	};
	states.onState((state) => {
		isIdle = state === "idle";
		tellSession();
	});

	return {
		audience: {
			// One that waits inside the call that launched the agent cannot take a turn to answer.
			sessionCanAnswer: ({ isBackground }) =>
				isBackground && host.session() !== undefined && pi.getActiveTools().includes(ANSWER_TOOL),
			userCanAnswer: () => host.session()?.hasUI ?? false,
		},
		ask(question, manager) {
			if (question.addressee.who === "session") {
				unheard.push({ question, manager });
				tellSession();
				for (const listener of listeners) listener();
			}
			if (question.addressee.who !== "user") return;
			const asking = () => bestEffort("asking the user", host.tell, () => askUser(question, manager, host.session()));
			line = line.then(asking, asking);
		},
		takeMessages,
		onMessage: (listener) => void listeners.push(listener),
	};
}

function isOpen(question: AskedQuestion, manager: Manager): boolean {
	return manager.questions().includes(question);
}

function messageFor({ question, context }: AskedQuestion, { id, type }: AgentRecord): QuestionMessage {
	const about = context === undefined ? [] : [`<context>${fenced(sanitizeBlock(context))}</context>`];
	return {
		customType: QUESTION,
		display: true,
		content: [
			`<subagent-question agent="${id}" preset="${sanitize(type).replace(/"/g, "'")}">`,
			fenced(sanitizeBlock(question)),
			...about,
			"</subagent-question>",
			`It waits. Answer with ${ANSWER_TOOL} (id ${id}) if you know the answer from the user or the task; otherwise ask the user, who can also type /subagent reply ${id} <answer>.`,
		].join("\n"),
		details: { agentId: id, question: sanitize(question).slice(0, 500) },
	};
}

async function askUser(
	question: AskedQuestion,
	manager: Manager,
	session: ExtensionContext | undefined,
): Promise<void> {
	const record = manager.store.record(question.agentId);
	if (!session || !record || !isOpen(question, manager)) return; // answered, stopped or passed on meanwhile
	const over = new AbortController();
	const leave = manager.store.subscribe((event) => {
		if (event.agentId === question.agentId && event.type === "agent_answered") over.abort();
	});
	try {
		const answer = await session.ui.input(titleOf(question, record), "Your answer", { signal: over.signal });
		if (over.signal.aborted || !isOpen(question, manager)) return; // an answer must never reach another question
		if (answer === undefined || answer.trim() === "") manager.decline(question.agentId);
		else manager.answer(question.agentId, answer, "user");
	} finally {
		leave();
	}
}

function titleOf({ question, context }: AskedQuestion, { type, id }: AgentRecord): string {
	const head = `Agent ${sanitize(type)} (${id}) asks: ${sanitizeBlock(question)}`;
	return context === undefined ? head : `${head}\n${sanitizeBlock(context)}`;
}
