/**
 * A run that this process follows through the engine. Whenever it may have missed something, it begins a new epoch: it
 * tells the worker how much of each file it has, and the worker sends the rest. So nothing that the engine loses matters.
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "@pi-subagents/core";
import { isObject } from "@pi-subagents/core/internal/base";
import { Check } from "typebox/value";
import { type Hear, type Marks, type Piece, Refused } from "../link/link.ts";
import { checked, type PieceBody, pieceSchema } from "../stdio/protocol.ts";
import type { Engine } from "./engine.ts";
import { type Envelope, envelopeSchema, followAnswerSchema } from "./messages.ts";
import { type Entry, endOf, readEntries, whyGivenUp, writeAfter } from "./run-log.ts";
import type { Workers } from "./workers.ts";

/** What all runs of one link share. */
export interface Near {
	/** Names this process in what it writes. */
	id: string;
	engine: Engine;
	workers: Workers;
	clock: Clock;
	leaseMs: number;
}

interface FollowingOptions {
	key: string;
	marks: () => Promise<Marks>;
	hear: Hear;
}

const AGAIN_MS = 500;

export class Following {
	readonly #options: FollowingOptions;
	#near: Near | undefined;
	#epoch = "";
	#count = 0;
	/** Of the pieces of this epoch. */
	#number = 0;
	#worker: string | undefined;
	#life: string | undefined;
	#isOver = false;
	#isFencing = false;
	#stop = (): void => undefined;
	#cancel = (): void => undefined;

	constructor(options: FollowingOptions) {
		this.#options = options;
	}

	/** With a connection that is new, or came back. */
	begin(near: Near): void {
		this.#near = near;
		void this.#begin(near);
	}

	close(): void {
		this.#isOver = true;
		this.#epoch = "";
		this.#stop();
		this.#cancel();
	}

	/** Called often: the worker may have another process now, or none. */
	async look(): Promise<void> {
		const near = this.#near;
		if (!near || this.#isOver || this.#isFencing) return;
		const { workers } = near;
		if (workers.isLate(this.#worker)) {
			this.#isFencing = true;
			await this.#fence(near).catch(() => undefined); // the engine is away: the next look tries again
			this.#isFencing = false;
			return;
		}
		const life = this.#worker === undefined ? undefined : workers.lifeOf(this.#worker);
		if (life !== undefined && this.#life !== undefined && life !== this.#life) {
			this.#life = life;
			await this.#begin(near);
		}
	}

	async #begin(near: Near): Promise<void> {
		const { engine, id } = near;
		const { key } = this.#options;
		const epoch = `${id}.${++this.#count}.${randomBytes(4).toString("hex")}`;
		this.#stop();
		this.#cancel();
		this.#epoch = epoch;
		this.#number = 0;
		try {
			const { seq, entry } = await endOf(engine, key);
			if (this.#epoch !== epoch || this.#hasEnded(entry)) return;
			if (entry?.writer.startsWith("w-")) this.#worker = entry.writer;
			const stop = await readEntries(engine, key, {
				from: seq + 1,
				onEntry: (each) => this.#hear(each, epoch),
				onDoubt: () => this.#again(near, epoch),
				onTooLong: (why) => this.#end({ type: "gone", why }),
			});
			if (this.#epoch !== epoch) return stop();
			this.#stop = stop;
			await this.#ask(near, epoch);
		} catch (error) {
			if (error instanceof Refused) this.#end({ type: "gone", why: error.words ?? error.message });
			else this.#again(near, epoch);
		}
	}

	#again(near: Near, epoch: string): void {
		if (this.#epoch !== epoch) return;
		this.#cancel();
		this.#cancel = near.clock.after(AGAIN_MS, () => {
			if (this.#epoch === epoch) void this.#begin(near);
		});
	}

	async #ask({ engine }: Near, epoch: string): Promise<void> {
		const { key, marks } = this.#options;
		const answer = await engine.request(engine.names.to(key), { does: "follow", key, epoch, marks: await marks() });
		if (this.#epoch !== epoch || !Check(followAnswerSchema, answer)) return;
		this.#worker = answer.worker;
		this.#life = answer.life;
	}

	/** The promise says when the piece was taken; until then no more are read. */
	async #hear(entry: Entry, epoch: string): Promise<void> {
		if (this.#epoch !== epoch || this.#hasEnded(entry) || entry.kind !== "piece") return;
		if (!Check(envelopeSchema, entry.body) || entry.body.epoch !== epoch) return; // of an earlier epoch
		if (entry.body.number === ++this.#number) await this.#pass(entry.body);
		else if (this.#near) this.#again(this.#near, epoch); // one was lost, or the worker counts as it likes
	}

	#pass({ piece: given }: Envelope): void | Promise<void> {
		const { key, hear } = this.#options;
		const { piece } = checked<PieceBody>(pieceSchema, { key, piece: given }, "a piece of a run");
		return piece.type === "result" || piece.type === "gone" ? this.#end(piece) : hear(piece);
	}

	/** Whether it was given up. */
	#hasEnded(entry: Entry | undefined): boolean {
		const why = entry && whyGivenUp(entry);
		if (why !== undefined) this.#end({ type: "gone", why, isOver: true });
		return why !== undefined;
	}

	/** The worker is silent. If it wrote nothing since, it may never write again: then the run is lost. */
	async #fence({ engine, id, workers, leaseMs }: Near): Promise<void> {
		const { key } = this.#options;
		const { seq, entry: last } = await endOf(engine, key);
		if (this.#isOver || this.#hasEnded(last)) return;
		const result = resultIn(last);
		if (result) return this.#end(result); // sent before it fell silent; what else it has cannot be fetched
		const who =
			this.#worker === undefined ? "no worker has it" : `its worker ${workers.nameOf(this.#worker)} is silent`;
		const why = `${who} for ${Math.round(leaseMs / 1_000)} s`;
		const entry = { writer: id, kind: "fence", nonce: randomBytes(4).toString("hex"), body: { why } } as const;
		const written = await writeAfter(engine, key, seq, entry);
		if (typeof written === "number") this.#end({ type: "gone", why, isOver: true }); // what it still does cannot count
	}

	#end(piece: Piece): void {
		if (this.#isOver) return;
		this.close();
		void this.#options.hear(piece);
	}
}

function resultIn(entry: Entry | undefined): Piece | undefined {
	if (entry?.kind !== "piece" || !Check(envelopeSchema, entry.body)) return undefined;
	const { piece } = entry.body;
	const isResult = isObject(piece) && piece.type === "result" && typeof piece.text === "string";
	return isResult ? { type: "result", text: String(piece.text) } : undefined;
}
