/** What commands need from pi's session and the user's machine. Types only. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { LaunchEnvironment, Launcher, LaunchSession, Schedules } from "@pi-subagents/launch";
import type { SessionHost } from "@pi-subagents/runners/session";

/** A command without its description, which is registered before the code is loaded. */
export type CommandCode = Omit<Parameters<ExtensionAPI["registerCommand"]>[1], "description">;

export interface CommandHost
	extends SessionHost,
		Pick<LaunchEnvironment, "storedTrust" | "warn">,
		Pick<LaunchSession<ExtensionContext>, "facts" | "parent"> {
	/** The session that is open now. */
	session(): ExtensionContext | undefined;
}

export type PiLauncher = Launcher<ExtensionContext>;
export type PiSchedules = Schedules<ExtensionContext>;
