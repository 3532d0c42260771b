/** Brings the questions of agents to the user, one dialog at a time: pi shows only one, and a second would close the first. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, type AskedQuestion, type Audience, bestEffort, type Manager } from "@pi-subagents/core";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import type { Host } from "./host.ts";

export interface Questions {
	audience: Audience;
	/** Asks the user, when it is the user's turn to answer. */
	ask(question: AskedQuestion, manager: Manager): void;
}

export function createQuestions(host: Host): Questions {
	let line = Promise.resolve();
	return {
		audience: {
			// The session waits inside the call that launched the agent, so it cannot take a turn to answer.
			sessionCanAnswer: () => false,
			userCanAnswer: () => host.session()?.hasUI ?? false,
		},
		ask(question, manager) {
			if (question.addressee.who !== "user") return;
			const asking = () => bestEffort("asking the user", host.tell, () => askUser(question, manager, host.session()));
			line = line.then(asking, asking);
		},
	};
}

async function askUser(
	question: AskedQuestion,
	manager: Manager,
	session: ExtensionContext | undefined,
): Promise<void> {
	const record = manager.store.record(question.agentId);
	const isOpen = () => manager.questions().includes(question);
	if (!session || !record || !isOpen()) return; // answered, stopped or passed on meanwhile
	const over = new AbortController();
	const leave = manager.store.subscribe((event) => {
		if (event.agentId === question.agentId && event.type === "agent_answered") over.abort();
	});
	try {
		const answer = await session.ui.input(titleOf(question, record), "Your answer", { signal: over.signal });
		if (over.signal.aborted || !isOpen()) return; // an answer must never reach another question
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
