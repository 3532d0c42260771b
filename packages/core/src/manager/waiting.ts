/** What an agent waits for, in its record. It may wait for several answers at once. Private to the manager. */
import { defined } from "../base/values.ts";
import type { Answer } from "../model/schema/question.ts";
import type { Store } from "../model/store.ts";
import type { AskedQuestion, LiveAgent } from "./live-agents.ts";
import type { RunLifecycle } from "./run-lifecycle.ts";

interface Parts {
	store: Store;
	lifecycle: RunLifecycle;
}

/** The agent asks, and waits for its addressee. */
export function announceQuestion({ store, lifecycle }: Parts, { addressee, agentId, question }: AskedQuestion): void {
	const { name, type } = (addressee.who === "agent" && store.record(addressee.agentId)) || {};
	const to = addressee.who === "nobody" ? {} : { to: addressee.who, ...defined({ toName: name ?? type }) };
	lifecycle.dispatch(agentId, { type: "agent_asked", question, ...to });
}

/** An extension inside the agent asks, and the agent waits for the user. */
export function announceDialog({ lifecycle }: Pick<Parts, "lifecycle">, agentId: string, title: string): void {
	lifecycle.dispatch(agentId, { type: "agent_asked", question: title, to: "user", isDialog: true });
}

/** One of the answers is there, or will not come. The agent goes on, or waits for the next one. */
export function announceAnswer(parts: Parts, live: LiveAgent, by: Answer["by"]): void {
	parts.lifecycle.dispatch(live.id, { type: "agent_answered", by });
	const [dialog] = live.dialogs;
	if (live.question) announceQuestion(parts, live.question.asked);
	else if (dialog) announceDialog(parts, live.id, dialog.title);
}
