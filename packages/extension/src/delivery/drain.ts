/**
 * Where pi ends with its last turn, agents that still work would be lost. So it waits for them, up to a deadline, and
 * the session goes on with what they found or ask. Somebody at a screen is not kept waiting: they get it when it comes.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type Clock, type Manager, runIdOf, systemClock } from "@pi-subagents/core";
import type { Questions } from "../questions.ts";
import type { Delivery } from "./delivery.ts";

export interface DrainDeps {
	manager: Manager;
	delivery: Delivery;
	questions: Questions;
	seconds: () => number;
	clock?: Clock;
}

export function drainBeforeTheEnd(pi: ExtensionAPI, deps: DrainDeps): void {
	const { manager, delivery, questions, seconds, clock = systemClock } = deps;
	let deadline: number | undefined;
	questions.onMessage(() => delivery.stopDraining());
	pi.on("agent_before_settle", async ({ entries, outcome }, { mode }) => {
		if ((mode !== "print" && mode !== "json") || outcome === "aborted") return undefined;
		deadline ??= clock.now() + seconds() * 1_000; // one for the whole run, however often the session goes on
		const letGo = clock.hold?.();
		try {
			const { messages, missing } = await delivery.drain(deadline);
			for (const { id: agentId, run } of manager.store.snapshot().records) {
				if (!missing.includes(runIdOf({ agentId, run }))) continue;
				manager.abort(agentId, { by: "timeout", reason: `pi waited ${seconds()}s for it` });
			}
			const told = [...messages, ...questions.takeMessages()];
			if (told.length === 0) return undefined;
			const drafts = told.map((message) => ({ type: "custom_message" as const, ...message }));
			return { entries: [...entries, ...drafts], continue: true };
		} finally {
			letGo?.();
		}
	});
}
