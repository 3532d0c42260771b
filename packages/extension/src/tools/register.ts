/**
 * Offers the tools once the session knows which presets and models there are: the model must be able to choose. They are
 * offered again when the models have changed, or the presets that other extensions register, and not otherwise: new tool
 * texts cost the prompt cache.
 */
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import { type Agents, allAgents, type Manager, modelName } from "@pi-subagents/core";
import { messageOf, once } from "@pi-subagents/core/internal/base";
import { backgroundRecords, type Delivery, type Journal } from "@pi-subagents/delivery";
import type { Launcher, RuntimePresets, Schedules, Settings } from "@pi-subagents/launch";
import { agentDescription, presetList } from "@pi-subagents/launch";
import type { Preset } from "@pi-subagents/presets";
import {
	createAgentTool,
	createBackgroundAgentTool,
	createBackgroundStatusTool,
	createGetResultTool,
	createListModelsTool,
	createRegistrationGate,
	createReplyTool,
	createStartSubagentTool,
	createSteerTool,
	createStopTool,
	createSubagentTool,
	createWorkflowTool,
	type KeepDetails,
	keepFailedDetails,
	keepLaunchesApart,
	keepRowsOverReload,
	modelParameter,
	type OnGivenUp,
	type ResolveSpec,
	type UsageReport,
	type UserInputSignal,
} from "@pi-subagents/tools";
import type { Host } from "../host/host.ts";
import { createScheduleCall } from "../schedule/schedules.ts";
import type { LazyWorkflows } from "../workflow/workflows.ts";

export interface ToolDeps {
	manager: Manager;
	launcher: Launcher<ExtensionContext>;
	host: Host;
	journal: Journal;
	delivery: Delivery;
	usage: UsageReport;
	interruptions: UserInputSignal;
	flushLogs: () => Promise<void>;
	schedules: Schedules<ExtensionContext>;
	runtimePresets: RuntimePresets;
	workflows: LazyWorkflows;
}

export function registerTools(pi: ExtensionAPI, deps: ToolDeps): void {
	const { launcher, host, runtimePresets } = deps;
	const gate = createRegistrationGate();
	const keep = keepRowsOverReload(pi);
	const onFailed = keepFailedDetails(pi);
	const keepApart = once(() => keepLaunchesApart(pi));
	let presets: readonly Preset[] = [];
	let version: number | undefined;
	let offered = { wanted: "", names: [] as readonly string[], text: "" };
	/** What the user wrote for `Agent`, as it was when the session was opened: new tool texts cost the prompt cache. */
	let ownText: string | undefined;
	const offer = async (ctx: ExtensionContext) => {
		const settings = await launcher.settings(ctx).catch((error: unknown) => {
			host.warn(`The settings could not be read: ${messageOf(error)}`);
			return launcher.latest();
		});
		const models = ctx.modelRegistry.getAvailable();
		const answer = gate(models);
		const { toolsets, scheduling, backgroundByDefault, worktrees, verifyCalls, machines } = settings;
		const wanted = [toolsets, scheduling, backgroundByDefault, worktrees, verifyCalls, Object.keys(machines)].join();
		const isTrimmed = offered.wanted !== "" && offered.wanted !== wanted;
		const text = ownText ?? presetList(presets);
		const isReworded = offered.wanted !== "" && offered.text !== text;
		if (answer !== "register" && !isTrimmed && !isReworded) return;
		const tools = toolsFor(settings, models.map(modelName), presets, { ...deps, ownText, onFailed });
		for (const tool of tools) pi.registerTool(tool);
		// Only now: pi does extra work for every tool call while a listener is registered.
		if (toolsets.includes("roles")) keepApart();
		keep(tools);
		const names = tools.map(({ name }) => name);
		if (isTrimmed) {
			const others = pi.getActiveTools().filter((name) => !offered.names.includes(name) && !names.includes(name));
			pi.setActiveTools([...others, ...names]);
		}
		offered = { wanted, names, text };
	};
	const readPresets = async (ctx: ExtensionContext) => {
		({ version } = runtimePresets.current());
		presets = await launcher.presets(ctx).catch((error: unknown) => {
			host.warn(`The presets could not be read: ${messageOf(error)}`);
			return []; // the tools themselves still work, and say what is wrong when they are called
		});
		ownText = describeAgent(ctx, presets, deps);
	};
	pi.on("session_start", async (_event, ctx) => {
		await readPresets(ctx);
		await offer(ctx);
	});
	pi.on("before_agent_start", async (_event, ctx) => {
		if (version !== runtimePresets.current().version) await readPresets(ctx);
		await offer(ctx);
	});
}

/** What is wrong with the user's text is said once; the tool is offered all the same. */
function describeAgent(
	{ cwd }: ExtensionContext,
	presets: readonly Preset[],
	{ host, launcher }: ToolDeps,
): string | undefined {
	const { agentDir, storedTrust, warn } = host;
	const { text, problems } = agentDescription(
		{ cwd, trust: storedTrust(cwd) },
		{ presets, agentDir, ...launcher.latest() },
	);
	for (const problem of problems) warn(`Text of the Agent tool: ${problem}`);
	return text;
}

/** All agents. A call that waits for one gets its result when the session's log knows of its end, which is almost always at once. */
function knownAgents(manager: Manager, journal: Journal): Agents {
	const all = allAgents(manager, "session");
	return {
		...all,
		async wait(id, options) {
			const outcome = await all.wait(id, options);
			const record = manager.store.record(id);
			if (record) await journal.untilKnown({ agentId: id, run: record.run });
			return outcome;
		},
	};
}

function toolsFor(
	{ toolsets, scheduling, backgroundByDefault, worktrees, machines, verifyCalls: hasVerify }: Settings,
	models: readonly string[],
	presets: readonly Preset[],
	deps: ToolDeps & { ownText: string | undefined; onFailed: KeepDetails },
): ToolDefinition[] {
	const { manager, launcher, journal, delivery, usage, interruptions, flushLogs, schedules, onFailed } = deps;
	const { store } = manager;
	const agents = knownAgents(manager, journal);
	const resolve: ResolveSpec = async (params, ctx) => (await launcher.resolve(params, ctx)).spec;
	const runs = () => backgroundRecords(store, journal);
	const onGivenUp: OnGivenUp = () => (launcher.latest().interrupt === "none" ? "leave" : "user");
	const has = (name: Settings["toolsets"][number]) => toolsets.includes(name);
	// Presets and models are long lists, so only the first tool that launches has them.
	const list = presetList(presets);
	const named = modelParameter(models, { hasList: has("agents") });
	const unnamed = modelParameter([], { hasList: has("agents") });
	const waiting = { agents, store, resolve, usage, onGivenUp, onFailed, hasVerify, machines: Object.keys(machines) };
	const keep = scheduling ? createScheduleCall(schedules) : undefined;
	const tools = [
		...(has("agents")
			? [
					createAgentTool({
						...waiting,
						model: named,
						caller: "session",
						isBackgroundByDefault: backgroundByDefault,
						hasWorktrees: worktrees,
						presets: list,
						description: deps.ownText,
						schedule: keep,
					}),
					createGetResultTool({
						agents,
						store,
						usage,
						flushLogs,
						onFailed,
						claims: delivery,
						untilSteered: interruptions.untilSteered,
					}),
					createSteerTool({ agents }),
					createListModelsTool(),
				]
			: []),
		...(has("presets")
			? [
					createSubagentTool({ ...waiting, ...(has("agents") ? { model: unnamed } : { model: named, presets: list }) }),
					createBackgroundAgentTool({ ...waiting, runs, model: unnamed }),
					createBackgroundStatusTool({ runs }),
				]
			: []),
		...(has("roles")
			? [createStartSubagentTool({ agents, resolve, presets: has("agents") || has("presets") ? "" : list })]
			: []),
		...(has("workflows") ? [createWorkflowTool({ ...waiting, load: deps.workflows.load, schedule: keep })] : []),
		...(has("agents") || has("roles")
			? [createStopTool({ agents, claims: delivery }), createReplyTool({ agents })]
			: []),
	];
	return tools as ToolDefinition[];
}
