export { backgroundRecords, type Counts, countsOf } from "./background-runs.ts";
export { createDelivery, type Delivery, type DeliveryDeps, type SessionHooks } from "./delivery.ts";
export type { Journal } from "./journal/journal.ts";
export type { Drained, ResultControls } from "./notify/notifier.ts";
export type { OutboxSettings, SessionState } from "./outbox/types.ts";
export { type EarlierSession, earlierSessions } from "./restore/earlier-sessions.ts";
export { memorySession } from "./session/memory-session.ts";
export {
	NOTIFICATION,
	type Notification,
	type NotificationDetails,
	type NotifiedAgent,
	runIdsIn,
} from "./session/notification.ts";
export { createOwnership, type OwnershipDeps, pruneOwners } from "./session/ownership.ts";
export type { Messenger, Ownership, SessionLog, SessionStates } from "./session/ports.ts";
export { parseSessionLines, type SessionEntry } from "./session/session-entry.ts";
