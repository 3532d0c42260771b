/** `/agents`: everything about agents that a person can look at and change, level by level. */
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { bestEffort, isSettled, type Manager, systemClock } from "@pi-subagents/core";
import { presetBlocks } from "../commands/agents.ts";
import type { Command } from "../commands/lazy.ts";
import { listBlocks } from "../commands/list.ts";
import { show } from "../commands/note.ts";
import type { SessionStates } from "../delivery/session-state.ts";
import type { Dialogs } from "../dialogs.ts";
import type { Host } from "../host.ts";
import type { Launcher } from "../launch.ts";
import type { Schedules } from "../schedule/schedules.ts";
import { openViewer } from "../viewer.ts";
import { agentsMenu } from "./agents.ts";
import type { Menu } from "./context.ts";
import { presetsMenu } from "./presets.ts";
import { scheduleMenu } from "./schedule.ts";
import type { Item } from "./screen.ts";
import { rpcScreen } from "./screen-rpc.ts";
import { tuiScreen } from "./screen-tui.ts";
import { settingsMenu } from "./settings.ts";
import { walk } from "./walk.ts";
import { worktreesMenu } from "./worktrees.ts";

export interface MenuDeps {
	host: Host;
	launcher: Launcher;
	manager: Manager;
	schedules: Schedules;
	dialogs: Dialogs;
	states: Pick<SessionStates, "whileAsking">;
}

export function menuCommand(pi: ExtensionAPI, { states, ...deps }: MenuDeps): Pick<Command, "handler"> {
	const { host, launcher, manager } = deps;
	return {
		handler: (_args, ctx) =>
			bestEffort("The menu", host.tell, async () => {
				if (ctx.hasUI) return states.whileAsking(() => topMenu(menuFor(ctx, deps)));
				const agents = listBlocks(manager.store.snapshot().records, systemClock.now());
				show(pi, ctx, [...agents, ...presetBlocks(await launcher.survey(ctx)), { text: NEEDS_SCREEN, tone: "muted" }]);
			}),
	};
}

const NEEDS_SCREEN = "The menu itself needs a screen: type /agents in interactive pi.";

function menuFor(ctx: ExtensionCommandContext, { dialogs, ...parts }: Omit<MenuDeps, "states">): Menu {
	const clock = systemClock;
	if (ctx.mode !== "tui") return { ...parts, ctx, clock, screen: rpcScreen(ctx, dialogs) };
	return {
		...parts,
		ctx,
		clock,
		screen: tuiScreen(ctx, dialogs, parts.host.tell),
		view: (agentId) => openViewer(ctx, { ...parts, dialogs, clock }, agentId),
	};
}

export function topMenu(menu: Menu): Promise<void> {
	const { screen, manager, launcher, schedules, ctx } = menu;
	return walk(
		screen,
		async () => {
			const { presets, config } = await launcher.survey(ctx);
			const jobs = config.settings.scheduling ? (await schedules.list(ctx)).length : undefined;
			return { title: "Agents", items: () => topItems(manager, presets.length, jobs), isLive: true };
		},
		(value) => LEVELS[value as Level](menu),
	);
}

type Level = "running" | "settled" | "presets" | "jobs" | "worktrees" | "settings";

const LEVELS: Record<Level, (menu: Menu) => Promise<void>> = {
	running: (menu) => agentsMenu(menu, "running"),
	settled: (menu) => agentsMenu(menu, "settled"),
	presets: presetsMenu,
	jobs: scheduleMenu,
	worktrees: worktreesMenu,
	settings: settingsMenu,
};

/** `jobs` is undefined where there are no schedules. */
function topItems(manager: Manager, presets: number, jobs: number | undefined): (Item & { value: Level })[] {
	const agents = manager.store.snapshot().records;
	const settled = agents.filter(({ status }) => isSettled(status)).length;
	const waiting = agents.filter(({ status }) => status === "waiting").length;
	const asking = waiting === 0 ? "" : `${waiting === 1 ? "one waits" : `${waiting} wait`} for your answer; `;
	return [
		{ value: "running", label: `Running agents (${agents.length - settled})`, about: `${asking}open, steer, stop` },
		{ value: "settled", label: `Settled agents (${settled})`, about: "read what they said, let one go on" },
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
			about: "what agents changed on branches of their own: diff, apply, discard",
		},
		{ value: "settings", label: "Settings", about: "limits, results, models, how the tree of agents looks" },
	];
}
