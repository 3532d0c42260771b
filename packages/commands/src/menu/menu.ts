/** `/agents`: the menu of agents, presets, jobs, worktrees and settings. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Manager, systemClock } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import { tallyText } from "@pi-subagents/progress";
import type { Item } from "@pi-subagents/widget/dialogs";
import type { CommandCode, CommandHost, PiLauncher, PiSchedules } from "../host.ts";
import type { Dialogs } from "../questions/dialogs.ts";
import type { Menu } from "../screen/navigation.ts";
import { runMenu } from "../screen/navigation.ts";
import { screenFor } from "../screen/screen-tui.ts";
import { presetBlocks } from "../subagent/agents.ts";
import { listBlocks } from "../subagent/list.ts";
import { currentAgents } from "../text/agent-text.ts";
import { show } from "../text/note.ts";
import { openViewer, type ViewerDeps } from "../viewer/viewer.ts";
import { agentsMenu } from "./agents/agents.ts";
import { everywhereMenu } from "./everywhere/everywhere.ts";
import { presetsMenu } from "./presets/presets.ts";
import { scheduleMenu } from "./schedule/schedule.ts";
import { settingsMenu } from "./settings/settings.ts";
import { worktreesMenu } from "./worktrees/worktrees.ts";

export interface MenuDeps {
	host: CommandHost;
	launcher: PiLauncher;
	manager: Manager;
	schedules: PiSchedules;
	dialogs: Dialogs;
	workflows?: ViewerDeps["workflows"];
	states: { whileAsking<Answer>(ask: () => Promise<Answer>): Promise<Answer> };
}

export function menuCommand(pi: ExtensionAPI, { states, ...deps }: MenuDeps): Pick<CommandCode, "handler"> {
	const { host, launcher, manager } = deps;
	return {
		handler: (_args, ctx) =>
			bestEffort("The menu", host.warn, async () => {
				if (ctx.hasUI) return states.whileAsking(() => topMenu(menuFor(ctx, deps)));
				const agents = listBlocks(currentAgents(manager), systemClock.now());
				show(pi, ctx, [
					...agents,
					...presetBlocks(await launcher.presetReport(ctx)),
					{ text: NEEDS_SCREEN, tone: "muted" },
				]);
			}),
	};
}

/** The list of agents alone, for a key. */
export function agentsScreen({ states, ...deps }: MenuDeps): (ctx: ExtensionContext) => Promise<void> {
	return async (ctx) => {
		await bestEffort("The list of agents", deps.host.warn, () =>
			states.whileAsking(() => agentsMenu(menuFor(ctx, deps))),
		);
	};
}

const NEEDS_SCREEN = "The menu needs a terminal: type /agents in interactive pi.";

function menuFor(ctx: ExtensionContext, { dialogs, ...parts }: Omit<MenuDeps, "states">): Menu {
	const clock = systemClock;
	const screen = screenFor(ctx, { dialogs, ...parts });
	if (ctx.mode !== "tui") return { ...parts, ctx, clock, screen };
	return {
		...parts,
		ctx,
		clock,
		screen,
		view: (agentId) => openViewer(ctx, { ...parts, dialogs, clock }, agentId),
	};
}

export function topMenu(menu: Menu): Promise<void> {
	const { screen, manager, launcher, schedules, ctx } = menu;
	return runMenu(
		screen,
		async () => {
			const { presets, config } = await launcher.presetReport(ctx);
			const jobs = config.settings.scheduling ? (await schedules.list(ctx)).length : undefined;
			const isBroken = config.refusals.length > 0;
			return { title: "Agents", items: () => topItems(manager, presets.length, jobs, isBroken), isLive: true };
		},
		(value) => LEVELS[value as Level](menu),
	);
}

type Level = "session" | "presets" | "jobs" | "worktrees" | "everywhere" | "settings";

const LEVELS: Record<Level, (menu: Menu) => Promise<void>> = {
	session: agentsMenu,
	presets: presetsMenu,
	jobs: scheduleMenu,
	worktrees: worktreesMenu,
	everywhere: everywhereMenu,
	settings: settingsMenu,
};

/** `jobs` is undefined when scheduling is off. `isBroken`: no agent is launched until a settings file is fixed. */
function topItems(
	manager: Manager,
	presets: number,
	jobs: number | undefined,
	isBroken: boolean,
): (Item & { value: Level })[] {
	const tally = tallyText(manager.store.snapshot().records);
	return [
		{
			value: "session",
			label: "This session",
			about: `${tally === "" ? "no agents yet" : tally}: open, steer, stop, answer, resume`,
		},
		{ value: "presets", label: `Presets (${presets})`, about: "view, edit, switch on and off, create" },
		...(jobs === undefined
			? []
			: [
					{
						value: "jobs" as const,
						label: `Scheduled jobs (${jobs})`,
						about: "next runs, pause, run, history, create",
					},
				]),
		{
			value: "worktrees",
			label: "Worktrees",
			about: "changes agents made on their own branches: diff, apply, discard",
		},
		{ value: "everywhere", label: "Everywhere", about: "agents of all your projects and sessions" },
		{
			value: "settings",
			label: "Settings",
			...(isBroken
				? { mark: { text: "!", tone: "bad" as const }, about: "a file must be fixed: no agent is launched until then" }
				: { about: "limits, results, models, agent tree" }),
		},
	];
}
