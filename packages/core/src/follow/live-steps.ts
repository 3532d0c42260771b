/**
 * Follows what agents do while they do it: each finished step, and the text and thinking that is being written, in
 * one order. The one place from which everything that shows live text gets it.
 */

import { type Clock, systemClock } from "../base/clock.ts";
import type { Manager } from "../manager/manager.ts";
import type { AgentEvent } from "../model/event.ts";
import type { LivePiece } from "../model/live-piece.ts";

/** A part of a block that an agent is writing. Blocks count from 0 for each agent. */
export interface LiveDelta extends Omit<LivePiece, "isFinal"> {
	agentId: string;
	isFinal: boolean;
}

/** A finished step of an agent. */
export interface LiveEntry {
	agentId: string;
	/** Counts from 0 for each agent. */
	seq: number;
	/** Milliseconds since the epoch. */
	at: number;
	kind: "text" | "thinking" | "tool" | "error";
	/** What it wrote or thought; for a tool, a line for people. */
	text: string;
	/** The block that was sent before in deltas. */
	block?: number;
	/** The tool, with what it was given. */
	tool?: string;
	args?: Readonly<Record<string, unknown>>;
	durationMs?: number;
	isError?: boolean;
}

/** Must not throw. */
export interface LiveListener {
	onEntry?: (entry: LiveEntry) => void;
	onDelta?: (delta: LiveDelta) => void;
}

export interface FollowLiveOptions {
	/** Only this agent. */
	agentId?: string;
	/** Whether deltas and thinking are sent from the start; true when absent. */
	hasText?: boolean;
	/** Default: the system clock. */
	clock?: Pick<Clock, "now">;
}

export interface LiveFeed {
	/** Whether deltas and thinking are sent. Without them following costs nearly nothing. */
	setText(isWanted: boolean): void;
	close(): void;
}

/**
 * Every block gets exactly one final delta, before the entry that has its text. Thinking is in no log: it is sent
 * only while deltas are.
 *
 * @example
 * ```ts
 * const feed = followLive(manager, { onDelta: ({ agentId, text }) => show(agentId, text) });
 * await manager.wait(id);
 * feed.close();
 * ```
 */
export function followLive(
	manager: Pick<Manager, "store" | "watch">,
	listener: LiveListener,
	{ agentId, hasText = true, clock = systemClock }: FollowLiveOptions = {},
): LiveFeed {
	const agents = new Map<string, AgentSteps>();
	let isTextWanted = hasText;
	const stepsOf = (id: string) => {
		const known = agents.get(id) ?? new AgentSteps(id, listener, clock);
		agents.set(id, known);
		return known;
	};
	const watch = (id: string) => {
		if (isTextWanted) stepsOf(id).watch(manager);
	};
	const watchAll = () => {
		for (const { id, startedAt, outcome } of manager.store.currentRecords())
			if ((agentId ?? id) === id && startedAt !== undefined && !outcome) watch(id);
	};
	const unsubscribe = manager.store.subscribe(({ event, line }) => {
		if (agentId !== undefined && event.agentId !== agentId) return;
		if (event.type === "agent_started") watch(event.agentId);
		else stepsOf(event.agentId).hear(event, line);
	});
	watchAll();
	return {
		setText(isWanted) {
			if (isWanted === isTextWanted) return;
			isTextWanted = isWanted;
			if (isWanted) watchAll();
			else for (const steps of agents.values()) steps.unwatch();
		},
		close() {
			unsubscribe();
			for (const steps of agents.values()) steps.unwatch();
		},
	};
}

/** Enough to show; the event has all of it. */
const MAX_BLOCK_LENGTH = 1024 * 1024;

interface Block {
	number: number;
	/** The number that its run gave it. */
	source: number;
	kind: LivePiece["kind"];
	text: string;
	/** How much of it was sent. */
	end: number;
	isOpen: boolean;
}

/** The steps of one agent. A resumed agent's continue to count. */
class AgentSteps {
	readonly #id: string;
	readonly #listener: LiveListener;
	readonly #clock: Pick<Clock, "now">;
	readonly #calls = new Map<string, { at: number; args: Readonly<Record<string, unknown>> }>();
	#entries = 0;
	#blocks = 0;
	/** The latest. */
	#block: Block | undefined;
	#stop: (() => void) | undefined;

	constructor(id: string, listener: LiveListener, clock: Pick<Clock, "now">) {
		this.#id = id;
		this.#listener = listener;
		this.#clock = clock;
	}

	watch(manager: Pick<Manager, "watch">): void {
		this.unwatch();
		this.#stop = manager.watch(this.#id, (piece) => this.#hearPiece(piece));
	}

	unwatch(): void {
		this.#closeBlock(this.#clock.now());
		this.#stop?.();
		this.#stop = undefined;
		this.#block = undefined;
	}

	hear(event: AgentEvent, line: string | undefined): void {
		const { at } = event;
		switch (event.type) {
			case "assistant_text":
				this.#closeBlock(at);
				if (event.text.trim() !== "") this.#emit({ at, kind: "text", text: event.text, ...this.#blockOf(event.text) });
				if (event.error !== undefined) this.#emit({ at, kind: "error", text: event.error, isError: true });
				break;
			case "tool_call":
				this.#calls.set(event.callId ?? event.tool, { at, args: event.args });
				break;
			case "tool_result": {
				const { callId, tool, isError } = event;
				const call = this.#calls.get(callId ?? tool);
				this.#calls.delete(callId ?? tool);
				const known = call && { args: call.args, durationMs: Math.max(0, at - call.at) };
				this.#emit({ at, kind: "tool", text: line ?? tool, tool, ...known, isError });
				break;
			}
			case "agent_settled":
				this.unwatch();
				this.#calls.clear();
		}
	}

	#hearPiece({ block: source, kind, offset, text, isFinal }: LivePiece): void {
		if (this.#block && source < this.#block.source) return; // late: its entry was sent
		if (this.#block?.source !== source) {
			this.#closeBlock(this.#clock.now());
			this.#block = { number: this.#blocks++, source, kind, text: "", end: 0, isOpen: true };
		}
		const block = this.#block;
		if (!block.isOpen) return;
		block.end = offset + text.length;
		if (block.text.length < MAX_BLOCK_LENGTH) block.text += text;
		if (isFinal) this.#closeBlock(this.#clock.now(), { offset, text });
		else this.#emitDelta(block, { offset, text, isFinal: false });
	}

	#closeBlock(at: number, last?: { offset: number; text: string }): void {
		const block = this.#block;
		if (!block?.isOpen) return;
		block.isOpen = false;
		this.#emitDelta(block, { offset: block.end, text: "", ...last, isFinal: true });
		if (block.kind === "thinking" && block.text.trim() !== "")
			this.#emit({ at, kind: "thinking", text: block.text, block: block.number });
	}

	#emitDelta({ number: block, kind }: Block, piece: Pick<LiveDelta, "offset" | "text" | "isFinal">): void {
		this.#listener.onDelta?.({ agentId: this.#id, block, kind, ...piece });
	}

	/** The block that had this text; a message of several has none. */
	#blockOf(text: string): { block?: number } {
		return this.#block?.kind === "text" && this.#block.text === text ? { block: this.#block.number } : {};
	}

	#emit(entry: Omit<LiveEntry, "agentId" | "seq">): void {
		this.#listener.onEntry?.({ agentId: this.#id, seq: this.#entries++, ...entry });
	}
}
