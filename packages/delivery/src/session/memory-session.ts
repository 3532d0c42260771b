/** A session that is a plain array, for scripts and tests. It has one branch, and takes messages at any time. */
import type { Notification } from "./notification.ts";
import type { Messenger, SessionLog } from "./ports.ts";
import type { SessionEntry } from "./session-entry.ts";

/**
 * The ports of a session whose entries are kept in an array. Opening the same array again is opening the session again.
 *
 * @example
 * ```ts
 * const session = memorySession([], ({ content }) => console.log(content));
 * const delivery = createDelivery({ manager, ...session });
 * ```
 */
export function memorySession(
	entries: SessionEntry[],
	onMessage: (notification: Notification) => void,
): { log: SessionLog; messenger: Messenger } {
	const add = (entry: Omit<SessionEntry, "id">): string => {
		const id = `e${entries.length + 1}`;
		entries.push({ id, ...entry });
		return id;
	};
	return {
		log: {
			append: (customType, data) => add({ type: "custom", customType, data }),
			entries: () => entries,
			branchIds: () => entries.map(({ id }) => id),
			reread: async () => entries,
		},
		messenger: {
			canSend: () => true,
			send(notification) {
				add({ type: "custom_message", ...notification });
				onMessage(notification);
				return true;
			},
			onArrived: () => undefined, // `send` says it
		},
	};
}
