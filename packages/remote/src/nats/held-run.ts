/** A run that this worker claimed: it alone writes to the run's log, until the near side has everything or gave it up. */
import type { Clock, Report } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import type { Worker } from "../far/worker.ts";
import { type Piece, Refused } from "../link/link.ts";
import { type ControlBody, checked, controlSchema, type FollowBody, followSchema } from "../stdio/protocol.ts";
import { putBlob } from "./blobs.ts";
import type { Engine } from "./engine.ts";
import type { Envelope, Refusal } from "./messages.ts";
import { Fenced, RunWriter } from "./run-log.ts";

export interface HeldRunOptions {
	key: string;
	/** The process that launched it; unknown after a restart of this worker, until a process follows the run. */
	near: string | undefined;
	worker: Worker;
	engine: Engine;
	writer: { worker: string; life: string };
	clock: Clock;
	report: Report;
	/** Its process has ended, so its slot is free. */
	onFree: () => void;
	/** It is no longer ours, or no longer needed. */
	onGone: () => void;
}

export class HeldRun {
	readonly #options: HeldRunOptions;
	readonly #writer: RunWriter;
	readonly #unserve: () => void;
	readonly #stopping = new AbortController();
	#near: string | undefined;
	#epoch = "";
	#hasStarted = false;
	#isOver = false;
	#isAbandoned = false;
	#isClosed = false;
	/** When it was last asked for. */
	heardAt: number;

	constructor(options: HeldRunOptions) {
		const { engine, key, writer, near, clock } = options;
		this.#options = options;
		this.#near = near;
		this.#writer = new RunWriter(engine, key, writer);
		this.heardAt = clock.now();
		this.#unserve = engine.serve(engine.names.to(key), (body) => this.#obey(body));
	}

	get near(): string | undefined {
		return this.#near;
	}

	/** Fires when it is not to be started any more. */
	get signal(): AbortSignal {
		return this.#stopping.signal;
	}

	/** Whether its process has ended. */
	get isOver(): boolean {
		return this.#isOver;
	}

	claim(): Promise<boolean> {
		return this.#writer.claim();
	}

	async accepted(): Promise<void> {
		this.#hasStarted = true;
		try {
			await this.#writer.append("accepted", {});
		} catch (error) {
			await this.#failed(error);
			throw error;
		}
	}

	refused(refusal: Refusal): Promise<void> {
		return this.#writer.append("refused", refusal);
	}

	/** A process before this one kept the order: whether it is still ours, and its start was never reported. */
	async isToStart(): Promise<boolean> {
		try {
			const last = await this.#writer.resume();
			return last === undefined || last.kind === "claim";
		} catch (error) {
			if (error instanceof Fenced) return false;
			throw error;
		}
	}

	/** A process before this one left the run's files. */
	async adopt(): Promise<void> {
		this.#hasStarted = true;
		await this.check();
		await this.look();
	}

	/** The connection was away: the run may have been given up, or the engine may have lost what it knew. */
	async check(): Promise<void> {
		try {
			const last = await this.#writer.resume();
			const isKnown = last !== undefined && last.kind !== "claim";
			if (this.#hasStarted && !isKnown) await this.accepted();
		} catch (error) {
			await this.#failed(error);
		}
	}

	async look(): Promise<void> {
		const { worker, key } = this.#options;
		const canEnd = this.#hasStarted && !this.#isOver && !this.#isClosed;
		if (canEnd && (await worker.isOver(key).catch(() => false))) this.#setOver();
	}

	/** Nobody follows it any more: it ends with its lease, unless it outlives its session. */
	async abandon(): Promise<void> {
		if (this.#isAbandoned || this.#isOver) return;
		this.#isAbandoned = true;
		const { worker, key } = this.#options;
		worker.unfollow(key);
		await worker.release(key);
	}

	/** This process is about to end. Resolves when the run has ended, or may continue alone. */
	async release(): Promise<void> {
		const { worker, key, clock } = this.#options;
		if (await worker.release(key, 0)) return;
		while (!this.#isOver) {
			await new Promise<void>((resolve) => void clock.after(50, resolve));
			await this.look();
		}
	}

	close(): void {
		this.#isClosed = true;
		this.#epoch = "";
		this.#unserve();
		this.#options.worker.unfollow(this.#options.key);
	}

	async #obey({ does, ...body }: Record<string, unknown>): Promise<unknown> {
		const { worker, key, engine, clock } = this.#options;
		this.heardAt = clock.now();
		switch (does) {
			case "follow":
				return this.#follow(body);
			case "control": {
				const { message } = checked<ControlBody>(controlSchema, body, "a message to a run");
				if (message.type === "kill") this.#stopping.abort(); // it may not have started
				if (message.type !== "done") return worker.control(key, message);
				await this.#writer.append("done", {});
				await this.#writer.trim();
				await worker.control(key, message);
				this.#setOver();
				return this.#options.onGone();
			}
			case "blob":
				return { digest: await putBlob(engine, worker.blobPath(key, nameIn(body))) };
			default:
				throw new Refused(`"${String(does)}" is unknown here`);
		}
	}

	async #follow(body: Record<string, unknown>): Promise<{ worker: string; life: string }> {
		const { worker, key, writer } = this.#options;
		const { marks } = checked<FollowBody>(followSchema, body, "the request to follow a run");
		const epoch = String(body.epoch);
		this.#epoch = epoch;
		this.#near = epoch.split(".")[0];
		this.#isAbandoned = false;
		let number = 0;
		const send = async (piece: Piece) => {
			if (this.#epoch !== epoch) throw new Error("a later request to follow replaced it");
			const envelope: Envelope = { epoch, number: ++number, piece };
			try {
				await this.#writer.append("piece", envelope);
			} catch (error) {
				number--; // it was too long, or the connection is closed
				await this.#failed(error);
				throw error;
			}
			if (piece.type === "result" || piece.type === "gone") this.#setOver();
		};
		await worker.follow(key, marks, send);
		return writer;
	}

	/** Somebody else wrote to its log: whatever it does now would be in vain, or done twice. */
	async #failed(error: unknown): Promise<void> {
		const { worker, key, report, onGone } = this.#options;
		if (!(error instanceof Fenced) || this.#isClosed) return;
		report(`${key} was given up meanwhile, so it is ended here: ${messageOf(error)}.`);
		this.close();
		this.#stopping.abort();
		await worker.control(key, { type: "kill" }).catch((problem) => report(messageOf(problem)));
		onGone();
	}

	#setOver(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#options.onFree();
	}
}

const NAME = /^[\w-][\w.-]{0,255}$/;

function nameIn({ id }: Record<string, unknown>): string {
	if (typeof id === "string" && NAME.test(id)) return id;
	throw new Refused("a file's name is not understood");
}
