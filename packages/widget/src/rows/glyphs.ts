/** Icons and connectors. Each is one column wide in every terminal, so none is an emoji. */
import { SPINNER, STATUS_LOOKS } from "@pi-subagents/progress";
import type { Icon } from "./layout.ts";

export const ICONS: Record<Icon, string> = {
	session: "●",
	done: "○",
	queued: STATUS_LOOKS.queued.icon,
	running: SPINNER[0],
	waiting: STATUS_LOOKS.waiting.icon,
	completed: STATUS_LOOKS.completed.icon,
	failed: STATUS_LOOKS.failed.icon,
	aborted: STATUS_LOOKS.aborted.icon,
	lost: "◌",
};

export const BRANCH = "├─ ";
export const LAST_BRANCH = "└─ ";
export const RAIL = "│  ";
export const NO_RAIL = "   ";
export const CROPPED = "⋯  ";
export const DETAIL = "⎿ ";
