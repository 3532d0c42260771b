/**
 * Brings the questions of agents to who can answer: to the session as a message, when it can take a turn; else to the
 * user, one dialog at a time.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, type AskedQuestion, type Audience, bestEffort, type Manager } from "@pi-subagents/core";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { fenced } from "./delivery/notification.ts";
import type { SessionStates } from "./delivery/session-state.ts";
import type { Dialogs } from "./dialogs.ts";
import type { Host } from "./host.ts";

export interface Questions {
	audience: Audience;
	/** Brings a question to its addressee, if that is the session or the user. */
	ask(question: AskedQuestion, manager: Manager): void;
	/** The questions that the session has not heard yet, as one message. They count as heard. */
	takeMessage(): QuestionMessage | undefined;
	isUnheard(): boolean;
	/** Hears when there is something to take. */
	onMessage(listener: () => void): void;
}

/** The type of message that brings a question to the session. */
export const QUESTION = "subagent-feedback-request";

interface QuestionMessage {
	customType: typeof QUESTION;
	display: true;
	content: string;
	details: { questions: { agentId: string; question: string }[] };
}

/** The tool with which the session answers; without it, it cannot. */
const ANSWER_TOOL = "reply_subagent";

export function createQuestions(
	pi: ExtensionAPI,
	host: Host,
	states: Pick<SessionStates, "onState">,
	dialogs: Dialogs,
): Questions {
	const unheard: { question: AskedQuestion; manager: Manager }[] = [];
	const listeners: (() => void)[] = [];
	let isIdle = false;

	const message = (): QuestionMessage | undefined => {
		const open = unheard.filter(({ question, manager }) => isOpen(question, manager));
		unheard.splice(0, unheard.length, ...open);
		const asked = open.flatMap(({ question, manager }) => {
			const asker = manager.store.record(question.agentId);
			return asker ? [{ question, asker }] : [];
		});
		return asked.length > 0 ? messageFor(asked) : undefined;
	};
	/** What is still unheard when the session is idle again got lost on its way, and is said again. */
	const tellSession = () => {
		const news = isIdle ? message() : undefined;
		if (!news) return;
		isIdle = false; // a turn begins; what is asked meanwhile waits for its end
		void bestEffort("telling the session of a question", host.tell, () =>
			pi.sendMessage(news, { triggerTurn: true, deliverAs: "followUp" }),
		);
	};
	const forget = ({ details }: Pick<QuestionMessage, "details">) => {
		const heard = new Set(details.questions.map(({ agentId }) => agentId));
		unheard.splice(0, unheard.length, ...unheard.filter(({ question }) => !heard.has(question.agentId)));
	};
	states.onState((state) => {
		isIdle = state === "idle";
		tellSession();
	});
	pi.on("message_end", ({ message: heard }) => {
		if (heard.role === "custom" && heard.customType === QUESTION) forget(heard as Pick<QuestionMessage, "details">);
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
			void bestEffort("asking the user", host.tell, () =>
				dialogs.inTurn(() => askUser(question, manager, host.session())),
			);
		},
		isUnheard: () => message() !== undefined,
		takeMessage() {
			const news = message();
			if (news) forget(news);
			return news;
		},
		onMessage: (listener) => void listeners.push(listener),
	};
}

function isOpen(question: AskedQuestion, manager: Manager): boolean {
	return manager.questions().includes(question);
}

/** More belongs into a file that the question names. */
const QUESTION_CHARACTERS = 2_000;
const CONTEXT_CHARACTERS = 4_000;

function messageFor(asked: readonly { question: AskedQuestion; asker: AgentRecord }[]): QuestionMessage {
	const elements = asked.map(({ question: { question, context }, asker: { id, type } }) => [
		`<subagent-question agent="${id}" preset="${sanitize(type).replace(/["<>]/g, "'")}">`,
		fenced(sanitizeBlock(question).slice(0, QUESTION_CHARACTERS)),
		...(context === undefined
			? []
			: [`<context>${fenced(sanitizeBlock(context).slice(0, CONTEXT_CHARACTERS))}</context>`]),
		"</subagent-question>",
	]);
	const [only, ...others] = asked;
	const id = only && others.length === 0 ? only.asker.id : "<id>";
	const advice = `Answer with ${ANSWER_TOOL} (id ${id}) if you know the answer from the user or the task; otherwise ask the user, who can also type /subagent reply ${id} <answer>.`;
	return {
		customType: QUESTION,
		display: true,
		content: [...elements.flat(), advice].join("\n"),
		details: {
			questions: asked.map(({ question, asker }) => ({
				agentId: asker.id,
				question: sanitize(question.question).slice(0, 500),
			})),
		},
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
