/**
 * The only extension of ours that a child process loads. It decides nothing: it asks the wrapper between two turns
 * and does what the reply says. Nothing is imported at run time but what is bundled into this file.
 */

import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { ASK_TOOL, type AskParameters, questionOf, RetryAfter, replyOf } from "@pi-subagents/core/internal/run";
import { RUN_MARK } from "@pi-subagents/core/internal/signals";
import { guardOwnFiles } from "../../file-guards/own-files.ts";
import { countAsAgent } from "../../providers/initiator.ts";
import { tapResponses } from "../../providers/response-tap.ts";
import { extensionModelIn, missingExtension } from "../pi/extension-models.ts";
import {
	noticeMessage,
	parseAnswer,
	parseReply,
	RESTART_COMMAND,
	RUNS_DIR_VARIABLE,
	requestTitle,
	type TunnelRequest,
	type TurnReply,
} from "../pi/tunnel.ts";
import { guardCheckout } from "./confine.ts";
import { dismissEarlyDialogs } from "./early-dialogs.ts";

export default function childEntry(pi: ExtensionAPI): void {
	dismissEarlyDialogs(pi);
	offerAsking(pi);
	askBetweenTurns(pi);
	offerToBeginAnew(pi);
	requireModel(pi);
	pi.on("before_provider_headers", ({ headers }, ctx) => countAsAgent(ctx.model?.provider, headers));
	reportRetryAfter(pi);
	const { PI_CODING_AGENT_DIR: agentDir, [RUN_MARK]: own, [RUNS_DIR_VARIABLE]: all } = process.env;
	guardOwnFiles(pi, { agentDir, dirs: [own, all] });
	guardCheckout(pi, process.env);
}

/** pi awaits each of these handlers. */
function askBetweenTurns(pi: ExtensionAPI): void {
	/** A tool of this turn has a result that the model should read. */
	let wantsMore = false;
	const obey = async (ctx: ExtensionContext, request: TunnelRequest) => {
		const word: TurnReply = parseReply(await ctx.ui.input(requestTitle(request)));
		if (word === "wrap_up") pi.setActiveTools([]);
	};
	pi.on("before_agent_start", async (_event, ctx) => {
		await obey(ctx, { ask: "begin" });
	});
	pi.on("agent_start", (_event, ctx) => obey(ctx, { ask: "loop" }));
	pi.on("turn_start", () => {
		wantsMore = false;
	});
	pi.on("tool_execution_end", ({ result }) => {
		if (result?.terminate !== true) wantsMore = true;
	});
	pi.on("turn_end", async (event, ctx) => {
		const { message } = event;
		// A failed request is not a turn: it will be repeated, or it was the last.
		if ("stopReason" in message && (message.stopReason === "error" || message.stopReason === "aborted")) return;
		const percent = ctx.getContextUsage()?.percent;
		await obey(ctx, {
			ask: "turn_end",
			goesOn: wantsMore || event.continue === true || ctx.hasPendingMessages(),
			...(typeof percent === "number" ? { contextPercent: percent } : {}),
		});
	});
}

/** pi begins with another model, or with a made-up one, where it does not know the one in its arguments. */
function requireModel(pi: ExtensionAPI): void {
	const wanted = extensionModelIn(process.argv, process.env);
	if (wanted === undefined) return;
	pi.on("session_start", (_event, { model, modelRegistry, ui }) => {
		const isThere = model && `${model.provider}/${model.id}` === wanted && modelRegistry.find(model.provider, model.id);
		if (!isThere) ui.notify(noticeMessage({ failed: missingExtension(wanted) }));
	});
}

/** What was said since stays in the session file on another branch; the next model does not read it. */
function offerToBeginAnew(pi: ExtensionAPI): void {
	/** The leaf before the first task. */
	let beginning: string | null | undefined;
	pi.on("before_agent_start", (_event, ctx) => {
		if (beginning === undefined) beginning = ctx.sessionManager.getLeafId();
	});
	pi.registerCommand(RESTART_COMMAND, {
		description: "Forgets the last prompt. Only for the process that runs this agent.",
		async handler(_args, ctx) {
			const place = beginning ?? ctx.sessionManager.getBranch()[0]?.id;
			if (place === undefined) return;
			const tools = pi.getActiveTools();
			await ctx.navigateTree(place, { summarize: false });
			pi.setActiveTools(tools); // pi restores those of the target
		},
	});
}

function offerAsking(pi: ExtensionAPI): void {
	const tool: Omit<ToolDefinition, "execute" | "parameters"> & { execute: Execute } = {
		...ASK_TOOL,
		async execute(_callId, parameters, signal, _onUpdate, ctx) {
			const request = { ask: "question", question: questionOf(parameters) } as const;
			const value = await ctx.ui.input(requestTitle(request), undefined, signal ? { signal } : {});
			const answer = parseAnswer(value);
			return { content: [{ type: "text", text: replyOf(answer) }], details: { by: answer.by } };
		},
	};
	// pi accepts any JSON Schema; its types require a library that must not be loaded here.
	pi.registerTool(tool as unknown as ToolDefinition);
}

type Execute = (
	...call: [string, AskParameters, ...Tail<Parameters<ToolDefinition["execute"]>>]
) => ReturnType<ToolDefinition["execute"]>;

type Tail<T extends unknown[]> = T extends [unknown, unknown, ...infer Rest] ? Rest : never;

function reportRetryAfter(pi: ExtensionAPI): void {
	const retryAfter = new RetryAfter();
	/** Posts while pi waits for its model are requests to the provider: no tool runs meanwhile. */
	let isAsking = false;
	let close = (): void => undefined;
	const hear = (response: Parameters<RetryAfter["hear"]>[0]) => retryAfter.hear(response, Date.now());
	pi.on("session_start", () => {
		close();
		close = tapResponses(({ method }) => (isAsking && method === "POST" ? hear : undefined));
	});
	pi.on("session_shutdown", () => close());
	pi.on("before_provider_headers", () => {
		isAsking = true;
		retryAfter.forget();
	});
	pi.on("after_provider_response", hear); // from providers not called with `fetch`
	pi.on("message_end", ({ message }, ctx) => {
		if (message.role !== "assistant") return;
		isAsking = false;
		if (message.stopReason === "error" && retryAfter.ms !== undefined)
			ctx.ui.notify(noticeMessage({ retryAfterMs: retryAfter.ms }));
	});
}
