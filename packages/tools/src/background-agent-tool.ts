/** `background_agent`: start a run that outlives this session, and return at once. */
import { defineTool, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { runIdOf } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { type Counts, countsOf } from "@pi-subagents/delivery";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { Type } from "typebox";
import { countsText } from "./background-status-tool.ts";
import {
	type MachineParameter,
	type ModelParameter,
	machineOffered,
	modelParameter,
	type VerifyParameter,
	verifyOffered,
} from "./parameters/model-parameter.ts";
import type { AgentSpawner, BackgroundRuns, ResolveSpec } from "./ports.ts";
import { renderAgentCall } from "./render/call.ts";
import { bounded } from "./waiting/bounded.ts";

const parametersFor = (model: ModelParameter, verify: VerifyParameter, place: MachineParameter) =>
	Type.Object({
		preset: Type.String(),
		task: Type.String({ description: "Self-contained" }),
		model,
		cwd: Type.Optional(Type.String()),
		...verify,
		...place,
	});

export interface BackgroundAgentToolDeps {
	agents: AgentSpawner;
	resolve: ResolveSpec;
	/** For the counts in the answer. */
	runs: BackgroundRuns;
	/** What `model` may be. Absent: any text. */
	model?: ModelParameter;
	/** Whether a call may name a command that checks the work. Absent: no. */
	hasVerify?: boolean;
	/** The machines that an agent can run on besides this one. Absent or empty: the model is not asked. */
	machines?: readonly string[];
}

interface BackgroundHandle {
	runId: string;
	preset: string;
	model: string;
	artifacts?: string;
	counts: Counts;
}

export function createBackgroundAgentTool({
	agents,
	resolve,
	runs,
	model = modelParameter([], { hasList: false }),
	hasVerify = false,
	machines = [],
}: BackgroundAgentToolDeps): ToolDefinition<ReturnType<typeof parametersFor>, BackgroundHandle> {
	return bounded(
		defineTool({
			name: "background_agent",
			label: "Background agent",
			description: "Start a preset agent that outlives this session; a message says when it is done.",
			promptSnippet: "Start an agent that outlives this session",
			parameters: parametersFor(model, verifyOffered({ hasVerify }), machineOffered(machines)),
			async execute(callId, { verify, machine, ...params }, signal, _onUpdate, ctx) {
				// A parameter that was not offered does not count.
				const offered = {
					...(hasVerify ? defined({ verify }) : {}),
					...(machines.length > 0 ? defined({ machine }) : {}),
				};
				const spec = await resolve({ ...params, ...offered, requiresModel: true, outlives: true }, ctx);
				signal?.throwIfAborted();
				const { id: agentId, run, status, artifacts } = agents.spawn(spec, { isBackground: true, callId });
				const runId = runIdOf({ agentId, run });
				const counts = countsOf(runs());
				const text = [
					`Background run ${runId} (${spec.type}) is ${status}. ${countsText(counts)}.`,
					"A message will say when it has finished; check on it with background_agent_status.",
					...(artifacts === undefined ? [] : [`Its files: ${artifacts}`]),
					...spec.warnings.map(sanitize),
				].join("\n");
				const details = { runId, preset: spec.type, model: spec.model, counts };
				return {
					content: [{ type: "text", text }],
					details: artifacts === undefined ? details : { ...details, artifacts },
				};
			},
			renderResult: ({ content, details }, _options, theme, { isError }) => {
				const [said] = content;
				const text = said?.type === "text" ? sanitizeBlock(said.text) : "";
				return isError || !details
					? new Text(theme.fg(isError ? "error" : "toolOutput", text), 0, 0)
					: new Text(theme.fg("dim", `↳ continues on its own, even if you quit · ${sanitize(details.runId)}`), 0, 0);
			},
			renderCall: ({ preset, task }, theme) => renderAgentCall("background_agent", { preset, task }, theme),
		}),
	);
}
