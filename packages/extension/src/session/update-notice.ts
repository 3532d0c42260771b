/**
 * Tells the user when a session begins in a pi whose files of ours were updated meanwhile. `/reload` does not load compiled
 * code again, so only a restart brings the update.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { updateNotice } from "@pi-subagents/core/internal/files";
import type { Host } from "../host/host.ts";

export function noticeUpdate(pi: ExtensionAPI, { warn }: Pick<Host, "warn">): void {
	pi.on("session_start", () => {
		const notice = updateNotice(import.meta.url);
		if (notice !== undefined) warn(notice);
	});
}
