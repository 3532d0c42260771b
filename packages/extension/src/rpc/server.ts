/** Answers other extensions over pi's bus: from the start, so that they find us, and with agents once a session is open. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { requestChannels, serve } from "@pi-subagents/rpc";
import type { BusTeller } from "../bus/bus.ts";
import { rpcHandlers } from "./handlers.ts";
import type { RpcDeps } from "./launch.ts";
import { offerRegistry } from "./registry.ts";

/** To be called last: what it says when a session is opened is that everything else is done. */
export function answerOthers(pi: ExtensionAPI, deps: RpcDeps & { bus: BusTeller }): void {
	const stop = serve(pi.events, rpcHandlers(deps), { capabilities: ["outputSchema"], report: deps.host.tell });
	offerRegistry(pi, deps);
	pi.on("session_start", () => deps.bus.ready());
	pi.on("session_shutdown", stop); // the session that is opened next is served by another of us
}

/** Whether somebody has ever asked us anything: they may claim results, which then have to wait a little. */
export function noticeCallers({ events }: Pick<ExtensionAPI, "events">): () => boolean {
	let isCalled = false;
	const notice = () => {
		isCalled = true;
	};
	for (const channel of Object.values(requestChannels)) events.on(channel, notice);
	return () => isCalled;
}
