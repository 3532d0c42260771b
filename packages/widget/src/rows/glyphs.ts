/** Icons and connectors. Each is one column wide in every terminal, so none is an emoji. */
import type { Icon } from "./layout.ts";

export const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;

export const ICONS: Record<Icon, string> = {
	session: "●",
	done: "○",
	queued: "◦",
	running: SPINNER[0],
	waiting: "?",
	completed: "✓",
	failed: "✗",
	stopped: "■",
	aborted: "⊘",
	lost: "◌",
};

export const BRANCH = "├─ ";
export const LAST_BRANCH = "└─ ";
export const RAIL = "│  ";
export const NO_RAIL = "   ";
export const CROPPED = "⋯  ";
export const DETAIL = "⎿ ";
