/**
 * What an agent is writing at this moment, for the end of its conversation: the text and thinking of the message that is
 * not in its file yet. It goes when the message has arrived there.
 */
import { type Clock, followLive, type LiveDelta, type Manager } from "@pi-subagents/core";
import type { ConversationEntry } from "@pi-subagents/widget";

interface Block {
	number: number;
	kind: LiveDelta["kind"];
	text: string;
}

/** More than a screen shows. */
const MAX_CHARACTERS = 20_000;

export class LiveTail {
	readonly #blocks: Block[] = [];
	readonly #stop: () => void;
	/** The message is complete; what comes next belongs to another one. */
	#isOver = false;
	/** The conversation grew since the message began: its file may be faster than its event. */
	#hasGrown = false;
	#entry: ConversationEntry | undefined;

	constructor(manager: Manager, agentId: string, { clock, onChange }: { clock: Clock; onChange: () => void }) {
		const feed = followLive(
			manager,
			{
				onDelta: (delta) => {
					this.#add(delta);
					onChange();
				},
				// Thinking is complete before the message is.
				onEntry: ({ kind }) => {
					if (kind === "thinking") return;
					this.#isOver = true;
					if (this.#hasGrown) this.#clear();
				},
			},
			{ agentId, clock },
		);
		this.#stop = () => feed.close();
	}

	/** An assistant's message, as far as it was seen; undefined while nothing is written. */
	entry(): ConversationEntry | undefined {
		if (this.#blocks.length === 0) return undefined;
		this.#entry ??= {
			type: "message",
			message: { role: "assistant", content: this.#blocks.map(contentOf) },
		};
		return this.#entry;
	}

	/** The conversation has grown: a message that was complete is now part of it. */
	arrived(): void {
		this.#hasGrown = this.#blocks.length > 0;
		if (this.#isOver) this.#clear();
	}

	close(): void {
		this.#stop();
		this.#clear();
	}

	#add({ block: number, kind, offset, text }: LiveDelta): void {
		if (this.#isOver) this.#clear();
		if (text === "") return;
		let block = this.#blocks.find((each) => each.number === number);
		if (!block) {
			block = { number, kind, text: offset > 0 ? "…" : "" };
			this.#blocks.push(block);
		}
		block.text += text;
		if (block.text.length > 2 * MAX_CHARACTERS) block.text = `…${block.text.slice(-MAX_CHARACTERS)}`;
		this.#entry = undefined;
	}

	#clear(): void {
		this.#blocks.splice(0);
		this.#isOver = false;
		this.#hasGrown = false;
		this.#entry = undefined;
	}
}

function contentOf({ kind, text }: Block): Record<string, string> {
	return kind === "text" ? { type: "text", text } : { type: "thinking", thinking: text };
}
