/**
 * Offers the tools once the session knows which presets and models there are: the model must be able to choose. They are
 * offered again when the set of models has changed, and not otherwise: new tool texts cost the prompt cache.
 */
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { type Manager, messageOf, modelName } from "@pi-subagents/core";
import type { Preset } from "@pi-subagents/presets";
import { allAgents } from "../agents.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { Host } from "../host.ts";
import type { Interruptions } from "../interruptions.ts";
import type { Journal } from "../journal/journal.ts";
import type { Launcher } from "../launch.ts";
import type { Ledger } from "../ledger.ts";
import { scheduleCalls } from "../schedule/keep.ts";
import type { Schedules } from "../schedule/schedules.ts";
import type { Settings } from "../settings.ts";
import { agentTool } from "./agent.ts";
import { backgroundAgentTool } from "./background-agent.ts";
import { backgroundStatusTool } from "./background-status.ts";
import { createGate } from "./gate.ts";
import { getResultTool } from "./get-result.ts";
import { listedModels, listModelsTool } from "./list-models.ts";
import { modelParameter } from "./model-parameter.ts";
import { presetList } from "./preset-list.ts";
import { replyTool } from "./reply.ts";
import { keepLaunchesApart, startTool } from "./start.ts";
import { steerTool } from "./steer.ts";
import { stopTool } from "./stop.ts";
import { subagentTool } from "./subagent.ts";

export interface ToolDeps {
	manager: Manager;
	launcher: Launcher;
	host: Host;
	journal: Journal;
	delivery: Delivery;
	ledger: Ledger;
	interruptions: Interruptions;
	flushLogs: () => Promise<void>;
	schedules: Schedules;
}

export function registerTools(pi: ExtensionAPI, deps: ToolDeps): void {
	const { launcher, host } = deps;
	const gate = createGate();
	let presets: readonly Preset[] = [];
	let offered: { wanted: string; names: readonly string[] } = { wanted: "", names: [] };
	const offer = async (ctx: ExtensionContext) => {
		const settings = await launcher.settings(ctx).catch((error: unknown) => {
			host.tell(`The settings could not be read: ${messageOf(error)}`);
			return launcher.latest();
		});
		const models = ctx.modelRegistry.getAvailable();
		const answer = gate(models);
		const wanted = [...settings.toolsets, settings.scheduling].join();
		const isTrimmed = offered.wanted !== "" && offered.wanted !== wanted;
		if (answer !== "register" && !isTrimmed) return;
		const tools = toolsFor(settings, models.map(modelName), presets, deps);
		for (const tool of tools) pi.registerTool(tool);
		const names = tools.map(({ name }) => name);
		if (isTrimmed) {
			const others = pi.getActiveTools().filter((name) => !offered.names.includes(name) && !names.includes(name));
			pi.setActiveTools([...others, ...names]);
		}
		offered = { wanted, names };
	};
	pi.on("session_start", async (_event, ctx) => {
		presets = await launcher.presets(ctx).catch((error: unknown) => {
			host.tell(`The presets could not be read: ${messageOf(error)}`);
			return []; // the tools themselves still work, and say what is wrong when they are called
		});
		await offer(ctx);
	});
	pi.on("before_agent_start", async (_event, ctx) => {
		await offer(ctx);
		return undefined;
	});
	keepLaunchesApart(pi);
}

function toolsFor(
	{ toolsets, scheduling }: Settings,
	models: readonly string[],
	presets: readonly Preset[],
	deps: ToolDeps,
): ToolDefinition[] {
	const { manager, launcher, journal, delivery, ledger, interruptions, flushLogs, schedules } = deps;
	const agents = allAgents(manager, "session");
	const has = (name: Settings["toolsets"][number]) => toolsets.includes(name);
	const model = modelParameter(models, { hasList: has("agents") });
	const list = presetList(presets);
	const onGivenUp = () => (launcher.latest().interrupt === "none" ? "leave" : "user");
	const control = [stopTool(agents, delivery), replyTool(agents)];
	const tools = [
		...(has("agents")
			? [
					agentTool({
						agents,
						store: manager.store,
						ledger,
						caller: "session",
						onGivenUp,
						model,
						presets: list,
						schedule: scheduling ? scheduleCalls(schedules) : undefined,
						resolve: async (params, ctx) => (await launcher.resolve({ ...params, keepsFiles: true }, ctx)).spec,
					}),
					getResultTool({
						agents,
						flushLogs,
						store: manager.store,
						delivery,
						ledger,
						untilSteered: interruptions.untilSteered,
					}),
					steerTool(agents),
					listModelsTool({ models: listedModels }),
				]
			: []),
		...(has("presets")
			? [
					// The list is long; only the first tool that launches has it.
					subagentTool({ manager, launcher, ledger, onGivenUp, model, presets: has("agents") ? "" : list }),
					backgroundAgentTool({ manager, launcher, journal, model }),
					backgroundStatusTool({ store: manager.store, journal }),
				]
			: []),
		...(has("roles") ? [startTool(agents, launcher, has("agents") || has("presets") ? "" : list)] : []),
		...(has("agents") || has("roles") ? control : []),
	];
	return tools as ToolDefinition[];
}
