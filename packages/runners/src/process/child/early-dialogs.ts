/**
 * pi in RPC mode reads answers only when all extensions have started. A dialog that one of them opens in `session_start`
 * would wait for ever; pi, with nothing else to do, would end. So it is dismissed at once, and the user is told.
 */
import type { ExtensionAPI, ExtensionUIContext } from "@earendil-works/pi-coding-agent";

/** What each gives if it is dismissed. */
const DIALOGS = { select: undefined, confirm: false, input: undefined, editor: undefined } as const;

type Show = (title: string, ...args: unknown[]) => Promise<unknown>;

/** To be called by the extension that pi loads first: it affects the ones after it. */
export function dismissEarlyDialogs(pi: Pick<ExtensionAPI, "on">, input: NodeJS.EventEmitter = process.stdin): void {
	let hasBegun = false;
	pi.on("before_agent_start", () => {
		hasBegun = true;
	});
	pi.on("session_start", (_event, { ui }: { ui: ExtensionUIContext }) => {
		const methods = ui as unknown as Record<keyof typeof DIALOGS, Show>; // one object for all extensions
		for (const [name, dismissed] of Object.entries(DIALOGS)) {
			const method = name as keyof typeof DIALOGS;
			const show = methods[method];
			methods[method] = async (title, ...args) => {
				if (hasBegun || input.listenerCount("data") > 0) return show(title, ...args);
				ui.notify(`It asked before it could be answered, so this was dismissed: ${title}`, "warning");
				return dismissed;
			};
		}
	});
}
