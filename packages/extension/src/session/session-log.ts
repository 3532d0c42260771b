/** pi's session file as the log of delivery. */
import { readFile } from "node:fs/promises";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { bestEffort } from "@pi-subagents/core";
import { parseSessionLines, type SessionLog } from "@pi-subagents/delivery";
import type { Host } from "../host/host.ts";

export function createSessionLog(pi: ExtensionAPI, host: Pick<Host, "session" | "tell">): SessionLog {
	const manager = () => host.session()?.sessionManager;
	return {
		append(customType, data) {
			// pi holds an entry in memory even if it could not write it, so the entry has its id either way.
			void bestEffort("remembering an agent in the session", host.tell, () => pi.appendEntry(customType, data));
			return manager()?.getLeafId() ?? undefined;
		},
		entries: () => manager()?.getEntries() ?? [],
		branchIds: () => (manager()?.getBranch() ?? []).map(({ id }) => id),
		async reread() {
			const file = manager()?.getSessionFile();
			return file === undefined ? [] : parseSessionLines(await readFile(file, "utf8"));
		},
	};
}
