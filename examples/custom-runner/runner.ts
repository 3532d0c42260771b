/**
 * Runs agents on any chat model, without pi: a loop of asking, using tools and asking again.
 * What is hard about a runner is not the loop but the ends: a stop may come at any moment, and nothing may follow it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { abortedOutcome, type Run, type Runner } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import type { ChildEvent, Outcome } from "@pi-subagents/progress";

export interface Message {
	role: "user" | "assistant" | "tool";
	text: string;
}

export interface Reply {
	text?: string;
	tool?: { name: string; args: Record<string, unknown> };
	/** The conversation no longer fits; the runner asks for a summary before it continues. */
	isFull?: boolean;
}

/** Rejects with `Busy` when it is worth asking again. */
export type Model = (messages: readonly Message[], signal: AbortSignal) => Promise<Reply>;
export type Tool = (args: Record<string, unknown>, signal: AbortSignal) => Promise<string>;
export class Busy extends Error {}

export interface ChatRunnerOptions {
	models: Readonly<Record<string, Model>>;
	tools: Readonly<Record<string, Tool>>;
	retryDelayMs?: number;
}

const MAX_ATTEMPTS = 3;

export function chatRunner({ models, tools, retryDelayMs = 2_000 }: ChatRunnerOptions): Runner {
	return {
		start(spec, emit, checkpoint = async () => "go"): Run {
			const model = models[spec.model];
			if (!model) throw new Error(`There is no model ${spec.model}.`);
			const { promise: settled, resolve } = Promise.withResolvers<Outcome>();
			const { signal, ...stopping } = stopper();
			const messages: Message[] = [{ role: "user", text: spec.task }];
			const inbox: string[] = [];
			let said: string | undefined;
			let isWrappedUp = false;

			const tell = (event: ChildEvent) => {
				if (signal.aborted) return;
				if (event.type === "assistant_text" && event.text !== "") said = event.text;
				emit(event);
			};
			const settle = (outcome: Outcome) => {
				stopping.stop();
				resolve(outcome); // the first one counts
			};
			const ask = async (asked: readonly Message[], attempt = 1): Promise<Reply> => {
				signal.throwIfAborted();
				try {
					return await model(asked, signal);
				} catch (error) {
					if (!(error instanceof Busy) || attempt > MAX_ATTEMPTS) throw error;
					tell({ type: "retrying", attempt, maxAttempts: MAX_ATTEMPTS, delayMs: retryDelayMs, error: error.message });
					await sleep(retryDelayMs, undefined, { signal });
					return ask(asked, attempt + 1);
				}
			};
			const use = async ({ name, args }: NonNullable<Reply["tool"]>) => {
				tell({ type: "tool_call", callId: `${messages.length}`, tool: name, args });
				const result = await (tools[name] ?? unknownTool(name))(args, signal).then(
					(text) => ({ text, isError: false }),
					(error: unknown) => ({ text: messageOf(error), isError: true }),
				);
				tell({ type: "tool_result", callId: `${messages.length}`, tool: name, isError: result.isError });
				messages.push({ role: "tool", text: result.text });
			};
			const shorten = async () => {
				tell({ type: "compacting" });
				const { text = "" } = await ask([...messages, { role: "user", text: "Summarize this conversation." }]);
				messages.splice(0, messages.length, { role: "user", text: spec.task }, { role: "assistant", text });
				tell({ type: "compacted", ok: true });
			};
			const live = async () => {
				for (;;) {
					for (const text of inbox.splice(0)) messages.push({ role: "user", text });
					const { text = "", tool, isFull } = await ask(messages);
					signal.throwIfAborted();
					messages.push({ role: "assistant", text });
					tell({ type: "assistant_text", text, stopReason: tool ? "toolUse" : "stop" });
					if (tool) await use(tool);
					tell({ type: "turn" });
					if (isFull) await shorten();
					if (!tool && inbox.length === 0) break;
					if ((await checkpoint()) === "end") throw new Error("The run was ended between two turns.");
				}
				tell({ type: "idle" });
				settle({ status: "completed", text: said ?? "", ...(isWrappedUp ? { wrappedUp: true } : {}) });
			};

			// A moment later, so that the caller can stop a run before anything has happened.
			queueMicrotask(() => live().catch((error: unknown) => settle({ status: "failed", error: messageOf(error) })));
			return {
				settled,
				abort: (stop) => settle(abortedOutcome(stop, said)),
				steer: (text) => void inbox.push(text),
				wrapUp(reason = "time is up") {
					if (isWrappedUp || signal.aborted) return;
					isWrappedUp = true;
					inbox.push(`Answer now with what you have: ${reason}.`);
				},
			};
		},
	};
}

function stopper() {
	const controller = new AbortController();
	return { signal: controller.signal, stop: () => controller.abort() };
}

function unknownTool(name: string): Tool {
	return async () => {
		throw new Error(`There is no tool ${name}.`);
	};
}
