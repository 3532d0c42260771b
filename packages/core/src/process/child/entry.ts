/**
 * The one extension of ours that a child in a process of its own loads. It decides nothing: it asks the wrapper between
 * two turns and does what it is told. Nothing is imported at run time but what is bundled into this file.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { offerAsking } from "./ask.ts";
import { guardCheckout } from "./confine.ts";
import { guardRunFiles } from "./path-guard.ts";
import { ANEW_COMMAND, RUN_DIR_VARIABLE, type TunnelRequest, titleOf, type Word, wordIn } from "./tunnel.ts";

export default function childEntry(pi: ExtensionAPI): void {
	offerAsking(pi);
	askBetweenTurns(pi);
	offerToBeginAnew(pi);
	countAsAgent(pi);
	const runDir = process.env[RUN_DIR_VARIABLE];
	if (runDir) guardRunFiles(pi, runDir);
	guardCheckout(pi, process.env);
}

/** pi waits for each of these handlers before it goes on. */
function askBetweenTurns(pi: ExtensionAPI): void {
	/** A tool of this turn has a result that the model should read. */
	let wantsMore = false;
	const obey = async (ctx: ExtensionContext, request: TunnelRequest) => {
		const word: Word = wordIn(await ctx.ui.input(titleOf(request)));
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
		// A failed request is no turn: it will be made again, or it was the last.
		if ("stopReason" in message && (message.stopReason === "error" || message.stopReason === "aborted")) return;
		const percent = ctx.getContextUsage()?.percent;
		await obey(ctx, {
			ask: "turn_end",
			goesOn: wantsMore || event.continue === true || ctx.hasPendingMessages(),
			...(typeof percent === "number" ? { contextPercent: percent } : {}),
		});
	});
}

/** What was said since stays in the session file, on a branch of its own; the next model does not read it. */
function offerToBeginAnew(pi: ExtensionAPI): void {
	/** Where the conversation stood before the first task. */
	let beginning: string | null | undefined;
	pi.on("before_agent_start", (_event, ctx) => {
		if (beginning === undefined) beginning = ctx.sessionManager.getLeafId();
	});
	pi.registerCommand(ANEW_COMMAND, {
		description: "Forgets what was last asked. Only for whoever runs this agent.",
		async handler(_args, ctx) {
			const place = beginning ?? ctx.sessionManager.getBranch()[0]?.id;
			if (place === undefined) return;
			const tools = pi.getActiveTools();
			await ctx.navigateTree(place, { summarize: false });
			pi.setActiveTools(tools); // pi takes those that the conversation had there
		},
	});
}

/** GitHub bills requests that a user made; what a child asks for was asked by an agent. */
function countAsAgent(pi: ExtensionAPI): void {
	pi.on("before_provider_headers", ({ headers }, ctx) => {
		if (ctx.model?.provider !== "github-copilot") return;
		for (const name of Object.keys(headers)) if (name.toLowerCase() === "x-initiator") delete headers[name];
		headers["X-Initiator"] = "agent";
	});
}
