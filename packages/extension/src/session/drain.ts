/**
 * In print and JSON mode pi ends with its last turn, and agents that still run would be lost. So it waits for them, up
 * to a deadline, and the session continues with what they found or ask. A user at a screen is not kept waiting: the
 * results arrive as they come.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Questions } from "@pi-subagents/commands/questions";
import { type Clock, type Manager, runIdOf, steadyClock, systemClock } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import type { Delivery } from "@pi-subagents/delivery";

export interface DrainDeps {
	manager: Manager;
	delivery: Delivery;
	questions: Questions;
	seconds: () => number;
	mode: () => ExtensionContext["mode"] | undefined;
	/** Tells the user whom it did not wait for any longer. */
	warn: (notice: string) => void;
	clock?: Clock;
}

export function drainBeforeTheEnd(pi: ExtensionAPI, deps: DrainDeps): void {
	const { delivery, questions, seconds } = deps;
	const clock = steadyClock(deps.clock ?? systemClock);
	let deadline: number | undefined;
	let isOverdue = false;
	questions.onMessage(() => delivery.stopDraining());
	const listen = () =>
		pi.on("agent_before_settle", async ({ entries, outcome }) => {
			if (outcome === "aborted") return undefined;
			deadline ??= clock.now() + seconds() * 1_000; // one for the whole run, however often the session continues
			const letGo = clock.hold?.();
			try {
				const isAsked = questions.hasUndelivered(); // who asks waits for this session: it must not wait for them
				const { messages, missing } = isAsked ? NOTHING : await delivery.drain(deadline);
				for (const runId of missing) giveUp(runId, deps);
				const late = missing.length > 0 ? await delivery.drain(deadline) : { messages: [] }; // now they have ended, too
				const question = questions.takeMessage();
				const told = [...messages, ...late.messages, ...(question ? [question] : [])];
				const wasOverdue = isOverdue;
				isOverdue ||= missing.length > 0;
				// One that launches another agent each time would never end. Nor may the message stand alone: pi prints its last one.
				if (told.length === 0 || wasOverdue) return undefined;
				const drafts = told.map((message) => ({ type: "custom_message" as const, ...message }));
				return { entries: [...entries, ...drafts], continue: true };
			} finally {
				letGo?.();
			}
		});
	// With a listener, pi assembles the whole context twice more each time it settles. So we listen only once there is
	// something to wait for.
	const leave = deps.manager.store.subscribe(() => {
		leave();
		if (isBrief(deps.mode())) void bestEffort("waiting for agents before the end", deps.warn, listen);
	});
}

/** Whether pi ends with its last turn. */
function isBrief(mode: ExtensionContext["mode"] | undefined): boolean {
	return mode === "print" || mode === "json";
}

const NOTHING = { messages: [], missing: [] };

function giveUp(runId: string, { manager, seconds, warn }: DrainDeps): void {
	const { records } = manager.store.snapshot();
	const agent = records.find(({ id: agentId, run }) => runIdOf({ agentId, run }) === runId);
	if (!agent) return;
	manager.abort(agent.id, { by: "timeout", reason: `pi waited ${seconds()}s for it` });
	warn(
		`Agent ${agent.id} (${agent.type}, "${agent.description}") was stopped: pi waited ${seconds()}s for it (setting drainSeconds).`,
	);
}
