/** What every part of the menu works with. Types only. */
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Clock, Manager } from "@pi-subagents/core";
import type { Host } from "../host.ts";
import type { Launcher } from "../launch.ts";
import type { Schedules } from "../schedule/schedules.ts";
import type { Screen } from "./screen.ts";

export interface Menu {
	host: Host;
	launcher: Launcher;
	manager: Manager;
	schedules: Schedules;
	/** The session in which the menu was opened. */
	ctx: ExtensionCommandContext;
	screen: Screen;
	/** Shows an agent's conversation as it goes on. Absent where there is no screen for it. */
	view?: (agentId: string) => Promise<void>;
	clock: Clock;
}
