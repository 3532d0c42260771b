/**
 * Which of our messages the session holds. pi reports a message before it writes it, and pi 1.x drops one that the disk
 * has no room for, together with the turn that it was to start. So it is looked for at pi's next event.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Host } from "../host/host.ts";

export interface Arrivals {
	/** Calls the listener with the details of each message of this type that the session holds. */
	onArrived(customType: string, listener: (details: unknown) => void): void;
	/** Calls the listener when a message got lost, with how many did since one arrived. */
	onLost(listener: (times: number) => void): void;
	/** Sends a message that starts no turn to an idle session. Throws if the session does not hold it then. */
	sendQuietly(message: Parameters<ExtensionAPI["sendMessage"]>[0]): void;
}

interface Arriving {
	customType: string;
	details: unknown;
	/** How many entries the session had before. */
	after: number;
}

export function followArrivals(pi: ExtensionAPI, host: Pick<Host, "session">): Arrivals {
	const listeners = new Map<string, (details: unknown) => void>();
	const lostListeners: ((times: number) => void)[] = [];
	let arriving: Arriving[] = [];
	let losses = 0;
	const entries = () => host.session()?.sessionManager.getEntries() ?? [];
	/** By its type alone: another extension may have changed what it says. */
	const holds = ({ customType, after }: Arriving): boolean =>
		entries()
			.slice(after)
			.some((entry) => entry.type === "custom_message" && entry.customType === customType);
	const look = () => {
		const looked = host.session() ? arriving : []; // a turn may outlive its session, which then cannot be read
		arriving = [];
		for (const each of looked) {
			const isHeld = holds(each);
			losses = isHeld ? 0 : losses + 1;
			if (isHeld) listeners.get(each.customType)?.(each.details);
			else for (const listener of lostListeners) listener(losses);
		}
	};
	pi.on("message_start", look);
	pi.on("agent_settled", look);
	pi.on("message_end", ({ message }) => {
		if (message.role !== "custom" || !listeners.has(message.customType)) return;
		arriving.push({ customType: message.customType, details: message.details, after: entries().length });
	});
	return {
		onArrived: (customType, listener) => void listeners.set(customType, listener),
		onLost: (listener) => void lostListeners.push(listener),
		sendQuietly(message) {
			const leaf = () => host.session()?.sessionManager.getLeafId();
			const before = leaf();
			pi.sendMessage(message, { triggerTurn: false });
			if (leaf() === before) throw new Error("the session could not be written");
		},
	};
}
