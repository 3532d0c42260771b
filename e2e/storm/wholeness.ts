/** Whether the answers that a session was told of are whole: in the message itself, or in the file that it names. */
import { textOf } from "../support/detached.ts";

/** A result as a message brought it. */
export interface ToldResult {
	runId: string;
	status: string;
	/** What the model reads about this run. */
	text: string;
	/** The file that the message names for all of it. */
	resultPath?: string;
}

interface Message {
	content?: unknown;
	customType?: string;
	details?: { runIds?: string[]; agents?: { id: string; status: string; resultPath?: string }[] };
}

/** Every result that a session's entries tell of, also if they tell of it twice. */
export function toldResults(entries: readonly Record<string, unknown>[]): ToldResult[] {
	return (entries as readonly Message[])
		.filter(({ customType }) => customType === "subagent-notification")
		.flatMap(({ content, details }) => {
			const elements = elementsIn(contentText(content));
			const { runIds = [], agents = [] } = details ?? {};
			return runIds.map((runId, place) => {
				const isOf = (id: string, run: string) => run === id || run.startsWith(`${id}-`);
				const id = agents.find((agent) => isOf(agent.id, runId))?.id ?? "";
				// One message may tell of two runs of an agent, in their order. Those that are only counted are not among them.
				const nth = runIds.slice(0, place).filter((earlier) => isOf(id, earlier)).length;
				const agent = agents.filter((each) => each.id === id)[nth];
				const text = elements.filter((element) => element.includes(`<task-id>${id}</task-id>`))[nth] ?? "";
				const path = /(\/[^\n]+\/result\.json)<\/rest>/.exec(text)?.[1] ?? agent?.resultPath;
				return { runId, status: agent?.status ?? "", text, ...(path === undefined ? {} : { resultPath: path }) };
			});
		});
}

/** A result of a tool call. */
export interface CallResult {
	text: string;
	isError: boolean;
}

interface Said {
	role?: string;
	content?: unknown;
	toolCallId?: string;
	isError?: boolean;
}

/** The results of tool calls that a session's entries hold. */
export function callResults(entries: readonly Record<string, unknown>[]): Map<string, CallResult> {
	const said = entries.map(({ message }) => message as Said | undefined);
	return new Map(
		said.flatMap((message) =>
			message?.role === "toolResult"
				? [[message.toolCallId ?? "", { text: contentText(message.content), isError: message.isError === true }]]
				: [],
		),
	);
}

/** The tool calls without a result: who made them has ended before. */
export function unansweredIn(entries: readonly Record<string, unknown>[]): Set<string> {
	const calls = entries.flatMap(({ message }) => {
		const { role, content } = (message ?? {}) as Said;
		const parts = role === "assistant" && Array.isArray(content) ? content : [];
		return parts.flatMap(({ type, id }: { type?: string; id?: string }) => (type === "toolCall" && id ? [id] : []));
	});
	const results = callResults(entries);
	return new Set(calls.filter((id) => !results.has(id)));
}

/**
 * What is wrong with an answer as it was told, as a sentence; nothing if all of it can be read. A model that reads a
 * part must see in the same text that there is more, and where: in a file, or in the entry or the run's file from which
 * `get_subagent_result` takes it. `entries` are those of the session. `artifacts` are the run's files: on a slow disk
 * the answer is told before it is there.
 */
export async function cutAnswer(
	{ runId, text, resultPath }: ToldResult,
	answer: string,
	entries: readonly Record<string, unknown>[],
	artifacts?: string,
): Promise<string | undefined> {
	if (text.includes(answer)) return undefined;
	const shown = /<result>\n([\s\S]*)\n<\/result>/.exec(text)?.[1]?.length ?? 0;
	const part = `${runId} answered ${answer.length} characters; the message shows ${shown}`;
	if (!/<rest>.*get_subagent_result/.test(text)) return `${part}, and does not say that there is more.`;
	if (resultPath === undefined) {
		const isKept = answerAmong(entries, runId) === answer;
		const isFiled = artifacts !== undefined && (await answerIn(`${artifacts}/result.json`)) === answer;
		return isKept || isFiled ? undefined : `${part}, names no file, and the session holds less.`;
	}
	return (await answerIn(resultPath)) === answer ? undefined : `${part}, and ${resultPath} does not hold it.`;
}

/** What the session itself keeps of it. */
export function answerAmong(entries: readonly Record<string, unknown>[], runId: string): unknown {
	const all = entries.map(({ data }) => data as Record<string, unknown> | undefined);
	const end = all.find((data) => data?.type === "settled" && data.runId === runId);
	return end?.text ?? end?.preview;
}

export async function answerIn(path: string): Promise<unknown> {
	try {
		const result: { outcome?: { text?: unknown } } = JSON.parse((await textOf(path)) ?? "{}");
		return result.outcome?.text;
	} catch (error) {
		if (error instanceof SyntaxError) return undefined; // spoiled: it holds no answer
		throw error;
	}
}

function elementsIn(content: string): string[] {
	return content.match(/<task-notification>[\s\S]*?<\/task-notification>/g) ?? [];
}

function contentText(content: unknown): string {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content.map((part: { text?: unknown }) => (typeof part?.text === "string" ? part.text : "")).join("\n");
}
