/** Workflows in pi. Their code is loaded with the first one. */
import { writeFileSync } from "node:fs";
import { isatty } from "node:tty";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { AgentRecord, Manager, Runner } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import type { Delivery } from "@pi-subagents/delivery";
import type { Launcher } from "@pi-subagents/launch";
import { safeJson, sanitizeBlock } from "@pi-subagents/progress";
import type { Workflows } from "@pi-subagents/workflow/session";
import type { Host } from "../host/host.ts";
import { loadWorkflow } from "./workflow.lazy.ts";

/** `pi --subagents-workflow review.js`. */
const FLAG = "subagents-workflow";
const STDOUT = 1;

export interface WorkflowsDeps {
	manager: Manager;
	launcher: Launcher<ExtensionContext>;
	host: Host;
	flushLogs: () => Promise<void>;
}

export interface RestoredWorkflowsDeps extends WorkflowsDeps {
	delivery: Pick<Delivery, "silence">;
	workflows: LazyWorkflows;
}

export interface LazyWorkflows {
	/** What the manager runs workflows with. A spec for it comes from the loaded code only. */
	readonly runner: Runner;
	load(): Promise<Workflows<ExtensionContext>>;
}

export function createLazyWorkflows(pi: ExtensionAPI, deps: () => WorkflowsDeps): LazyWorkflows {
	let loading: Promise<Workflows<ExtensionContext>> | undefined;
	let loaded: Workflows<ExtensionContext> | undefined;
	const open = async () => {
		const { createWorkflows, newsOf } = await loadWorkflow();
		loaded = createWorkflows({
			...deps(),
			publish: (event, state, id) => void pi.events.emit(`subagents:workflow_${event.type}`, newsOf(event, state, id)),
		});
		return loaded;
	};
	return {
		runner: {
			takesNoSlot: true,
			start(...run) {
				if (!loaded) throw new Error("Workflows are not loaded.");
				return loaded.runner.start(...run);
			},
		},
		load() {
			loading ??= open();
			return loading;
		},
	};
}

/** Continues those of the restored agents that are workflows which ended with their process, or says that they are paused. */
export async function continueWorkflows(agentIds: ReadonlySet<string>, deps: RestoredWorkflowsDeps): Promise<void> {
	const { manager, launcher, host, delivery, workflows } = deps;
	const ctx = host.session();
	const isOurs = ({ id, runner }: AgentRecord) => runner === "workflow" && agentIds.has(id);
	const earlier = manager.store.currentRecords().filter(isOurs);
	if (!ctx || earlier.length === 0) return;
	const { autoResume } = (await launcher.settings(ctx)).workflows;
	const { openPaused } = await loadWorkflow();
	await openPaused(earlier, await workflows.load(), ctx, { ...host, autoResume, silence: delivery.silence });
}

/** Runs the script that the flag names when a session has begun. */
export function runWorkflowFile(pi: ExtensionAPI, { manager, host, workflows: { load } }: RestoredWorkflowsDeps): void {
	pi.registerFlag(FLAG, { type: "string", description: "Run this workflow script" });
	pi.on("session_start", async (_event, ctx) => {
		const file = pi.getFlag(FLAG);
		if (typeof file !== "string" || file === "") return;
		const isBrief = ctx.mode === "print" || ctx.mode === "json";
		await bestEffort(`running ${file}`, isBrief ? fail : host.warn, async () => {
			const { runFile } = await loadWorkflow();
			const result = await runFile({ file, isBrief }, { workflows: await load(), manager }, ctx);
			if (!result) return;
			const text = isatty(STDOUT) ? sanitizeBlock(result.text) : result.text;
			const line = ctx.mode === "json" ? safeJson({ type: "workflow_result", ...result }) : text;
			writeFileSync(STDOUT, `${line}\n`); // pi sends what is written in other ways to stderr
		});
	});
}

/** Without a screen, the exit code says so to the program that started pi. */
function fail(why: string): void {
	console.error(`pi-subagents: ${sanitizeBlock(why)}`);
	process.exitCode = 1;
}
