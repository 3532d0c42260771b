/** What an unfinished run is doing, from the last lines of its log. Pure. */

import { defined } from "../base/values.ts";
import { parseEvent } from "../runs/read.ts";

export interface LogState {
	hasStarted: boolean;
	/** Why it was queued, if it was. */
	waits?: string;
	/** The question that it waits for. `to`: who has to answer, if the log says so. */
	question?: {
		id?: string;
		question: string;
		context?: string;
		defaultAnswer?: string;
		to?: "agent" | "session" | "user";
		toName?: string;
	};
}

export function stateOfLog(lines: readonly string[]): LogState {
	let hasStarted = false;
	let waits: string | undefined;
	/** Oldest first. Questions of agents inside a pi have no id. */
	const open: Open[] = [];
	const close = (id: string | undefined) => {
		const at = open.findIndex((each) => each.id === id);
		if (at >= 0) open.splice(at, 1);
	};
	for (const line of lines) {
		const event = parseEvent(line);
		if (!event) continue;
		if (event.type === "agent_queued") waits = event.waits;
		else hasStarted = true;
		if (event.type === "question") {
			const { id, question, context, defaultAnswer, dialog } = event;
			open.push({ id, question, ...defined({ context, defaultAnswer }), ...(dialog === undefined ? {} : FOR_USER) });
		} else if (event.type === "agent_asked") {
			const { question, to, toName } = event;
			close(undefined); // an agent inside a pi has one open question, which may have been passed on
			open.push({ question, ...defined({ to, toName }) });
		} else if (event.type === "question_over" || event.type === "agent_answered") close(event.id);
	}
	return { hasStarted, ...defined({ waits, question: answerable(open.at(-1)) }) };
}

const FOR_USER = { to: "user", isDialog: true } as const;

/** A dialog of an extension is answered in the pi that shows it: without an id, no other program can. */
function answerable(open: Open | undefined): LogState["question"] {
	if (!open?.isDialog) return open;
	const { id: _id, isDialog: _isDialog, ...question } = open;
	return question;
}

type Open = NonNullable<LogState["question"]> & { isDialog?: true };
