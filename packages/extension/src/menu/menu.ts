/** `/agents`: everything about agents that a person can look at and change, level by level. */
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { bestEffort, isSettled, type Manager, systemClock } from "@pi-subagents/core";
import { presetBlocks } from "../commands/agents.ts";
import { listBlocks } from "../commands/list.ts";
import { show } from "../commands/note.ts";
import type { Dialogs } from "../dialogs.ts";
import type { Host } from "../host.ts";
import type { Launcher } from "../launch.ts";
import { openViewer } from "../viewer.ts";
import { agentsMenu } from "./agents.ts";
import type { Menu } from "./context.ts";
import { presetsMenu } from "./presets.ts";
import type { Item } from "./screen.ts";
import { rpcScreen } from "./screen-rpc.ts";
import { tuiScreen } from "./screen-tui.ts";
import { settingsMenu } from "./settings.ts";
import { walk } from "./walk.ts";

type Command = Parameters<ExtensionAPI["registerCommand"]>[1];

export interface MenuDeps {
	host: Host;
	launcher: Launcher;
	manager: Manager;
	dialogs: Dialogs;
}

export function menuCommand(pi: ExtensionAPI, deps: MenuDeps): Command {
	const { host, launcher, manager } = deps;
	return {
		description: "Agents, presets and settings in a menu",
		handler: (_args, ctx) =>
			bestEffort("The menu", host.tell, async () => {
				if (ctx.hasUI) return topMenu(menuFor(ctx, deps));
				const agents = listBlocks(manager.store.snapshot().records, systemClock.now());
				show(pi, ctx, [...agents, ...presetBlocks(await launcher.survey(ctx)), { text: NEEDS_SCREEN, tone: "muted" }]);
			}),
	};
}

const NEEDS_SCREEN = "The menu itself needs a screen: type /agents in interactive pi.";

function menuFor(ctx: ExtensionCommandContext, { dialogs, ...parts }: MenuDeps): Menu {
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
	const { screen, manager, launcher, ctx } = menu;
	return walk(
		screen,
		async () => {
			const { presets } = await launcher.survey(ctx);
			return { title: "Agents", items: () => topItems(manager, presets.length), isLive: true };
		},
		(value) => LEVELS[value as Level](menu),
	);
}

type Level = "running" | "settled" | "presets" | "settings";

const LEVELS: Record<Level, (menu: Menu) => Promise<void>> = {
	running: (menu) => agentsMenu(menu, "running"),
	settled: (menu) => agentsMenu(menu, "settled"),
	presets: presetsMenu,
	settings: settingsMenu,
};

function topItems(manager: Manager, presets: number): (Item & { value: Level })[] {
	const agents = manager.store.snapshot().records;
	const settled = agents.filter(({ status }) => isSettled(status)).length;
	const waiting = agents.filter(({ status }) => status === "waiting").length;
	const asking = waiting === 0 ? "" : `${waiting === 1 ? "one waits" : `${waiting} wait`} for your answer; `;
	return [
		{ value: "running", label: `Running agents (${agents.length - settled})`, about: `${asking}open, steer, stop` },
		{ value: "settled", label: `Settled agents (${settled})`, about: "read what they said, let one go on" },
		{ value: "presets", label: `Presets (${presets})`, about: "view, edit, switch on and off, create" },
		{ value: "settings", label: "Settings", about: "limits, results, models, how the tree of agents looks" },
	];
}
