/** Ties the agents to the session that launched them. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Manager } from "@pi-subagents/core";

/** A child that does not let go must not keep pi from ending. */
const SHUTDOWN_MS = 3_000;

export function stopWithSession(pi: ExtensionAPI, manager: Manager): void {
	pi.on("session_shutdown", async () => {
		const { promise: tooLong, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, SHUTDOWN_MS);
		await Promise.race([manager.shutdown(), tooLong]);
		clearTimeout(timer);
	});
}
