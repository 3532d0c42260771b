/**
 * Publishes each step of an agent, and what it is writing, to other extensions. pi's bus does not say whether anyone
 * listens, but a listener that uses a payload reads its `agentId`. So runs and turns begin with an empty block: once
 * one is read, agents report what they write, until no listener reads it.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type Clock, followLive, type LiveDelta, type Manager } from "@pi-subagents/core";
import { lifecycleChannels } from "@pi-subagents/rpc";
import { deltaOf, entryOf } from "./payloads.ts";

export interface LiveDeps {
	manager: Manager;
	clock: Clock;
	/** Whether something of that time is new: the steps of a rejoined run come again from its start. */
	isNew: (agentId: string, at: number) => boolean;
	/** Runs work that must not fail anything else. */
	attempt: (what: string, work: () => void) => void;
}

export interface LivePublisher {
	/** Finds out whether anyone reads what agents write, with an empty block of this agent. */
	findReaders(agentId: string): void;
}

/** After this many unread pieces, there is no listener. */
const MAX_UNREAD = 8;

export function publishLive(
	{ events }: Pick<ExtensionAPI, "events">,
	{ manager, clock, isNew, attempt }: LiveDeps,
): LivePublisher {
	/** How many blocks of an agent were empty ones of ours, and how many were its own. */
	const empty = new Map<string, number>();
	const blocks = new Map<string, number>();
	let isRead = false;
	let unread = 0;
	const setRead = (value: boolean) => {
		isRead = value;
		unread = 0;
		feed.setText(value);
	};
	const blockId = (agentId: string, block: number) => block + (empty.get(agentId) ?? 0);
	const publishDelta = (delta: LiveDelta) => {
		const watched = {
			...deltaOf(delta, blockId(delta.agentId, delta.block)),
			get agentId() {
				setRead(true);
				return delta.agentId;
			},
		};
		unread++;
		attempt("publishing what an agent writes", () => events.emit(lifecycleChannels.delta, watched));
		if (isRead && unread >= MAX_UNREAD) setRead(false);
	};
	const feed = followLive(
		manager,
		{
			onDelta(delta) {
				blocks.set(delta.agentId, delta.block + 1);
				publishDelta(delta);
			},
			onEntry(entry) {
				const { agentId, at, block } = entry;
				if (!isNew(agentId, at)) return;
				const payload = entryOf(entry, block === undefined ? undefined : blockId(agentId, block));
				attempt("publishing an agent's step", () => events.emit(lifecycleChannels.entry, payload));
			},
		},
		{ hasText: false, clock },
	);
	return {
		findReaders(agentId) {
			if (isRead) return;
			publishDelta({ agentId, block: blocks.get(agentId) ?? 0, kind: "text", offset: 0, text: "", isFinal: true });
			empty.set(agentId, (empty.get(agentId) ?? 0) + 1);
		},
	};
}
