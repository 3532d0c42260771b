/**
 * Routes agents' questions: to the session as a message if it can take a turn, otherwise, or if its turn ends without
 * an answer, to the user, one dialog at a time. A background agent that the user started asks with a message that starts no turn: a dialog would capture the
 * keys the user is typing.
 */
import type { ExtensionAPI, ExtensionContext, Theme } from "@earendil-works/pi-coding-agent";
import { type Component, Text } from "@earendil-works/pi-tui";
import {
	type AgentRecord,
	type AskedQuestion,
	type Audience,
	fencedQuestion,
	type Manager,
	type Question,
} from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import type { SessionStates } from "@pi-subagents/delivery";
import { formatDuration, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { CommandHost } from "../host.ts";
import { confirmSafely, type Dialogs } from "./dialogs.ts";
import { ownUi } from "./other-dialogs.ts";

export interface Questions {
	audience: Audience;
	/** Delivers a question if its addressee is the session or the user. */
	ask(question: AskedQuestion, manager: Manager): void;
	/** The undelivered questions as one message. They count as delivered from now on. */
	takeMessage(): QuestionMessage | undefined;
	hasUndelivered(): boolean;
	/** Asks the user for a yes. Undefined without a screen. */
	confirm(title: string, question: string): Promise<boolean> | undefined;
	/** Calls the listener when there is a message to take. */
	onMessage(listener: () => void): void;
}

/** When the session can take a question, and whether it has. `sendQuietly` starts no turn, and throws if it has not. */
export interface QuestionSession extends Pick<SessionStates, "onState"> {
	onArrived(customType: string, listener: (details: unknown) => void): void;
	sendQuietly(message: QuestionMessage): void;
}

/** The custom type of a question message. */
export const QUESTION = "subagent-feedback-request";

interface QuestionMessage {
	customType: typeof QUESTION;
	display: true;
	content: string;
	details: { questions: { agentId: string; question: string; background?: string }[] };
}

/** Without this tool, the session cannot answer. */
const ANSWER_TOOL = "reply_subagent";

export function createQuestions(
	pi: ExtensionAPI,
	host: CommandHost,
	session: QuestionSession,
	dialogs: Dialogs,
): Questions {
	const undelivered: Undelivered[] = [];
	/** The session has read them, and has not answered yet. */
	let read: Undelivered[] = [];
	const undeliveredToUser: Undelivered[] = [];
	const listeners: (() => void)[] = [];
	let isIdle = false;

	const unasked = { session: () => host.session() };
	const nextMessage = () => messageOfOpen(undelivered, adviceToSession);
	/** Only when idle: pi then writes the message to the session file at once, or it is sent again when idle the next time. */
	const sendToUser = () => {
		const message = isIdle ? messageOfOpen(undeliveredToUser, adviceToUser) : undefined;
		if (!message) return;
		void bestEffort("showing a question to the user", host.warn, () => {
			session.sendQuietly(message);
			undeliveredToUser.splice(0);
		});
	};
	/** A question still undelivered when the session is idle again was lost and is sent again. */
	const sendToSession = () => {
		const message = isIdle ? nextMessage() : undefined;
		if (!message) return;
		isIdle = false; // a turn begins; new questions wait for its end
		void bestEffort("sending a question to the session", host.warn, () =>
			pi.sendMessage(message, { triggerTurn: true, deliverAs: "followUp" }),
		);
	};
	const markDelivered = ({ details }: Pick<QuestionMessage, "details">) => {
		const delivered = new Set(details.questions.map(({ agentId }) => agentId));
		const isRead = ({ question }: Undelivered) => delivered.has(question.agentId);
		read = [...read, ...undelivered.filter(isRead)];
		undelivered.splice(0, undelivered.length, ...undelivered.filter((each) => !isRead(each)));
	};
	/** Its turn has ended. No one would look at what it left open. */
	const passOn = () => {
		const left = read.filter(({ question, manager }) => isOpen(question, manager));
		read = [];
		for (const { question, manager } of left) manager.passToUser(question);
	};
	session.onState((state) => {
		isIdle = state === "idle";
		if (isIdle) passOn();
		sendToUser();
		sendToSession();
	});
	session.onArrived(QUESTION, (details) => markDelivered({ details } as Pick<QuestionMessage, "details">));

	return {
		audience: {
			// A session waiting in the call that launched the agent cannot take a turn.
			// An agent that the user started is answered by the user.
			sessionCanAnswer: (root) =>
				root.isBackground &&
				!isLaunchedByUser(root) &&
				host.session() !== undefined &&
				pi.getActiveTools().includes(ANSWER_TOOL),
			userCanAnswer: () => host.session()?.hasUI ?? false,
		},
		confirm(title, question) {
			const open = host.session();
			return open?.hasUI ? dialogs.inTurn(() => confirmSafely(open, title, question), unasked) : undefined;
		},
		ask(question, manager) {
			if (question.addressee.who === "session") {
				undelivered.push({ question, manager });
				sendToSession();
				for (const listener of listeners) listener();
			}
			if (question.addressee.who !== "user") return;
			if (isLaunchedByUser(rootOf(question, manager))) {
				undeliveredToUser.push({ question, manager });
				if (!isIdle) notifyUser(question, manager, host.session());
				return sendToUser();
			}
			void bestEffort("asking the user", host.warn, () =>
				dialogs.inTurn(() => askUser(question, manager, host.session()), unasked),
			);
		},
		hasUndelivered: () => nextMessage() !== undefined,
		takeMessage() {
			const message = nextMessage();
			if (message) markDelivered(message);
			return message;
		},
		onMessage: (listener) => void listeners.push(listener),
	};
}

interface Undelivered {
	question: AskedQuestion;
	manager: Manager;
}

interface Asked {
	question: AskedQuestion;
	asker: AgentRecord;
}

/** A message with the open questions; answered ones are dropped. */
function messageOfOpen(undelivered: Undelivered[], advice: (id: string) => string): QuestionMessage | undefined {
	const open = undelivered.filter(({ question, manager }) => isOpen(question, manager));
	undelivered.splice(0, undelivered.length, ...open);
	const asked = open.flatMap(({ question, manager }): Asked[] => {
		const asker = manager.store.record(question.agentId);
		return asker ? [{ question, asker }] : [];
	});
	return asked.length > 0 ? messageFor(asked, advice) : undefined;
}

/** Whether the user started it in the background. */
function isLaunchedByUser(root: AgentRecord | undefined): boolean {
	return root?.launchedBy === "user" && root.isBackground;
}

/** The top-level ancestor of the asking agent. */
function rootOf({ agentId, aboutId = agentId }: AskedQuestion, { store }: Manager): AgentRecord | undefined {
	let record = store.record(aboutId);
	while (record?.parentAgentId !== undefined) record = store.record(record.parentAgentId);
	return record;
}

/** The session is busy and the message waits until it is idle: the user is notified now. */
function notifyUser(question: AskedQuestion, manager: Manager, session: ExtensionContext | undefined): void {
	const asker = manager.store.record(question.agentId);
	if (!asker) return;
	const text = sanitize(headOf(question, asker)).slice(0, NOTICE_CHARACTERS);
	session?.ui.notify(`${text} Answer with /subagent reply ${asker.id} <text>.`, "warning");
}

const NOTICE_CHARACTERS = 500;
/** Of the context that a box shows; the model reads all of it. */
const BACKGROUND_CHARACTERS = 1_000;

function isOpen(question: AskedQuestion, manager: Manager): boolean {
	return manager.questions().includes(question);
}

function adviceToSession(id: string): string {
	return `Answer with ${ANSWER_TOOL} (id ${id}) if you know the answer from the user or the task; otherwise end your turn, and a dialog asks the user, who can also type /subagent reply ${id} <answer>.`;
}

function adviceToUser(id: string): string {
	return `The user started this agent and answers it: /subagent reply ${id} <answer>. If they tell you the answer instead, pass it on with ${ANSWER_TOOL} (id ${id}).`;
}

function messageFor(asked: readonly Asked[], advice: (id: string) => string): QuestionMessage {
	const elements = asked.map(({ question, asker: { id, type } }) => [
		`<subagent-question agent="${id}" preset="${sanitize(type).replace(/["<>]/g, "'")}">`,
		fencedQuestion(question),
		"</subagent-question>",
	]);
	const [only, ...others] = asked;
	const id = only && others.length === 0 ? only.asker.id : "<id>";
	return {
		customType: QUESTION,
		display: true,
		content: [...elements.flat(), advice(id)].join("\n"),
		details: {
			questions: asked.map(({ question, asker }) => {
				const background = backgroundOf(question).join("\n").slice(0, BACKGROUND_CHARACTERS);
				const text = sanitize(question.question).slice(0, 500);
				return { agentId: asker.id, question: text, ...(background === "" ? {} : { background }) };
			}),
		},
	};
}

async function askUser(
	question: AskedQuestion,
	manager: Manager,
	session: ExtensionContext | undefined,
): Promise<void> {
	const record = manager.store.record(question.agentId);
	if (!session || !record || !isOpen(question, manager)) return; // answered, stopped or rerouted meanwhile
	const over = new AbortController();
	const unsubscribe = manager.store.subscribe(({ event }) => {
		if (event.agentId === question.agentId && event.type === "agent_answered") over.abort();
	});
	try {
		const answer = await ownUi(session.ui).input(titleOf(question, record), "Your answer", { signal: over.signal });
		if (over.signal.aborted || !isOpen(question, manager)) return; // an answer must never reach another question
		if (answer === undefined || answer.trim() === "") manager.decline(question.agentId);
		else manager.answer(question.agentId, answer, "user");
	} finally {
		unsubscribe();
	}
}

function titleOf(asked: AskedQuestion, asker: AgentRecord): string {
	return [headOf(asked, asker), ...backgroundOf(asked), dismissText(asked)].join("\n");
}

/** What the user needs to know to answer, and what happens without an answer. */
export function backgroundOf({ context, defaultAnswer, timeoutMs }: Question): string[] {
	const inTime = timeoutMs === undefined ? "" : ` in ${formatDuration(timeoutMs)}`;
	return [
		...(context === undefined ? [] : [sanitizeBlock(context)]),
		...(defaultAnswer === undefined ? [] : [`Default: ${sanitize(defaultAnswer)}`]),
		...(timeoutMs === undefined ? [] : [`Without an answer${inTime} it ${withoutAnswer(defaultAnswer)}.`]),
	];
}

function dismissText({ defaultAnswer }: Question): string {
	return `esc: it ${withoutAnswer(defaultAnswer)}`;
}

function withoutAnswer(defaultAnswer: string | undefined): string {
	return defaultAnswer === undefined ? "decides by itself" : "continues with its default";
}

function headOf({ question }: AskedQuestion, { type, id }: AgentRecord): string {
	return `Agent ${sanitize(type)} (${id}) asks: ${sanitizeBlock(question)}`;
}

/** Renders a question message. Its details come from a session file that may be old or edited. */
export function renderQuestion({ details }: { details?: unknown }, _options: object, theme: Theme): Component {
	const { questions } = Object(details) as { questions?: unknown };
	const lines = (Array.isArray(questions) ? questions : []).flatMap((asked) => {
		const { agentId, question, background } = Object(asked) as Record<string, unknown>;
		const id = sanitize(String(agentId ?? "?"));
		return [
			`${theme.fg("warning", "?")} ${theme.fg("customMessageText", `Agent ${id} asks: ${sanitize(String(question ?? ""))}`)}`,
			...(typeof background === "string" && background !== "" ? [theme.fg("muted", sanitizeBlock(background))] : []),
			theme.fg("muted", `/subagent reply ${id} <answer>`),
		];
	});
	return new Text(lines.join("\n") || "An agent asks.", 1, 1, (line) => theme.bg("customMessageBg", line));
}
