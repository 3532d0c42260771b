/**
 * Keeps the near copy of a run's directory: appends what its files gain on the other machine, sends the control lines
 * that are written here, and puts the result there last. The usual watcher reads the copy like any run's directory.
 */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Report } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import { createWhole, makeRoom, readPlain } from "@pi-subagents/core/internal/files";
import type { StartedWrapper, WrapperEnd } from "@pi-subagents/runners/detached";
import { RUN_FILES } from "@pi-subagents/runs";
import { Disconnected, GROWING, type GrowingName, type Link, type Marks, type Piece } from "../link/link.ts";
import { saidBy } from "../link/words.ts";
import { writeAt } from "../link/write-at.ts";
import { ControlFeed } from "./control-feed.ts";
import { Intake, type IntakeLimits } from "./intake.ts";

export interface MirrorOptions {
	dir: string;
	/** The run's name on the other machine. */
	key: string;
	/** The machine's name, for people. */
	machine: string;
	link: Link;
	/** Takes over what the agent committed, and gives up when the signal fires. */
	finish: (piece: Piece & { type: "result" }, signal: AbortSignal) => Promise<Finished>;
	/** How much is taken from the other machine. */
	limits?: IntakeLimits;
	/** Called before its end is reported: nothing of the run is alive on the other machine. */
	onOver: () => void;
	clock: Clock;
	report: Report;
}

export interface Finished {
	/** The result as it is to be read here. Absent if what came is none of this run. */
	text?: string;
	/** Nothing of the run is only on the other machine, so it may delete the run. */
	isAllHere: boolean;
}

/** How long a machine may take to say that a killed run has ended. It may never say so. */
const KILLED_MS = 10_000;
const MAX_SESSION_BYTES = 512 * 1024 * 1024;

export class Mirror implements StartedWrapper {
	readonly ended: Promise<WrapperEnd>;
	/** As it was checked here; the file is for later readers. */
	readonly sendsResult = true;
	readonly #options: MirrorOptions;
	readonly #end = Promise.withResolvers<WrapperEnd>();
	/** The number of bytes that each file has here. */
	readonly #sizes = new Map<GrowingName, number>();
	#unfollow: () => void;
	readonly #unbeat: () => void;
	readonly #intake: Intake;
	/** Nothing more is copied. */
	readonly #stopping = new AbortController();
	#last: Promise<void> = Promise.resolve();
	#cancelForce = (): void => undefined;
	/** Its result is being taken over: what follows it counts only if it is asked for again. */
	#isConcluding = false;
	readonly #control: ControlFeed;
	#isUp = false;
	#onReach = (_isReached: boolean): void => undefined;
	#isOver = false;
	#wasSentAgain = false;

	constructor(options: MirrorOptions) {
		this.#options = options;
		this.#intake = new Intake(options.limits);
		this.#control = new ControlFeed(options);
		this.ended = this.#end.promise;
		this.#unbeat = options.link.onBeat((isUp) => {
			this.#isUp = isUp;
			if (!this.#isOver) this.#onReach(isUp);
		});
		this.#unfollow = this.#follow();
	}

	/** While the machine cannot be reached, the run is over here; it ends there when its lease does. */
	endNow(): void {
		const { link, key, machine, clock } = this.#options;
		this.#stopping.abort(new Error("it was stopped meanwhile"));
		const unreachable = () => this.#finish({ how: `${machine} cannot be reached` });
		this.#cancelForce();
		this.#cancelForce = clock.after(KILLED_MS, () => this.#finish({ how: `${machine} did not say that it has ended` }));
		if (this.#isUp) link.control(key, { type: "kill" }).catch(unreachable);
		else unreachable();
	}

	onReach(listener: (isReached: boolean) => void): void {
		this.#onReach = listener;
		listener(this.#isUp);
	}

	letGo(): void {
		this.#isOver = true;
		this.#stopping.abort(new Disconnected("no one follows it here any more")); // the next process takes it over
		this.#cancelForce();
		this.#unfollow();
		this.#unbeat();
		this.#control.close();
	}

	/** Reads nothing more from there: it is broken, or lies. */
	#refuse(why: string): void {
		const { link, key, machine } = this.#options;
		this.#stopping.abort(new Error(why));
		this.#isOver = true;
		this.#unfollow();
		void link.control(key, { type: "kill" }).catch(() => undefined);
		this.#finish({ how: `on ${machine}, ${why}; nothing more is read from it` });
	}

	#finish(end: WrapperEnd): void {
		this.#end.resolve(end);
	}

	#follow(): () => void {
		const { link, key } = this.#options;
		return link.follow(
			key,
			() => this.#marks(),
			(piece) => this.#hear(piece),
		);
	}

	/** Once there is a connection, the far side tells the result again. */
	#followAgain(): void {
		this.#isConcluding = false;
		if (!this.#isOver) this.#unfollow = this.#follow();
	}

	async #marks(): Promise<Marks> {
		await this.#last;
		for (const name of GROWING) this.#sizes.set(name, name === "live" ? 0 : await sizeOf(this.#path(name)));
		return Object.fromEntries(this.#sizes);
	}

	/** One after the other, in the order of their arrival. The promise says when a piece that only takes room is kept. */
	#hear(piece: Piece): void | Promise<void> {
		const { report, machine } = this.#options;
		const isCopied = piece.type === "bytes" || piece.type === "wrapper" || piece.type === "result";
		if (this.#isOver || (this.#isConcluding && isCopied)) return;
		const taken = this.#intake.take(piece);
		if (taken.do === "end") return this.#refuse(taken.why);
		if (taken.do === "skip") {
			if (taken.isNews && piece.type === "bytes")
				report(`Not all of ${RUN_FILES[piece.file]} is copied from ${machine}: it is too long.`);
			return;
		}
		if (piece.type === "result") this.#isConcluding = true;
		this.#last = this.#last.then(() =>
			this.#isOver
				? undefined
				: bestEffort(`copying an agent's files from ${machine}`, report, () => this.#keep(piece)),
		);
		// A result leads to requests, whose answers come behind it.
		return piece.type === "result" ? undefined : this.#last;
	}

	async #keep(piece: Piece): Promise<void> {
		const { dir, machine } = this.#options;
		switch (piece.type) {
			case "bytes":
				return this.#append(piece.file, piece.at, Buffer.from(piece.data, "base64"));
			case "wrapper":
				await createWhole(join(dir, RUN_FILES.wrapper), piece.text);
				return;
			case "control":
				return this.#control.sendFrom(piece.size);
			case "gone":
				if (piece.isOver) this.#options.onOver();
				return this.#finish({ how: saidBy(machine, piece.why) });
			case "result":
				return this.#conclude(piece);
		}
	}

	async #append(name: GrowingName, at: number, bytes: Buffer): Promise<void> {
		const size = this.#sizes.get(name) ?? 0;
		const startsOver = at === 0 && size > 0;
		if (at !== size && !startsOver) return; // a piece was lost: the next connection sends from our marks
		await writeAt(this.#path(name), at, bytes, { isEnd: true });
		this.#sizes.set(name, at + bytes.length);
	}

	async #conclude(piece: Piece & { type: "result" }): Promise<void> {
		const { dir, key, machine, link, report, finish, onOver } = this.#options;
		if (piece.session !== undefined && !this.#wasSentAgain && !(await this.#hasSession(piece.session))) {
			this.#wasSentAgain = true;
			await writeAt(this.#path("session"), 0, Buffer.alloc(0), { isEnd: true });
			return this.#followAgain();
		}
		onOver();
		const finished = await finish(piece, this.#stopping.signal).catch((error: unknown) => {
			if (error instanceof Disconnected) return undefined;
			throw error;
		});
		if (!finished) return this.#followAgain();
		if (this.#isOver) return;
		const { text, isAllHere } = finished;
		const path = join(dir, RUN_FILES.result);
		await makeRoom(path); // an agent on this machine could have written one
		if (text !== undefined) await createWhole(path, text);
		this.#finish({
			how: `the result from ${machine} cannot be used`,
			...(text === undefined ? {} : { lastLine: text }),
		});
		if (!isAllHere) return; // the result says what is left there; the worker deletes it when it is old
		await bestEffort("clearing up on another machine", report, () =>
			link.control(key, { type: "done" }).catch((error: unknown) => {
				if (!(error instanceof Disconnected)) throw error; // the worker deletes it when it is old
			}),
		);
	}

	async #hasSession(digest: string): Promise<boolean> {
		const bytes = await readPlain(this.#path("session"), MAX_SESSION_BYTES);
		return bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === digest;
	}

	#path(name: GrowingName): string {
		return join(this.#options.dir, RUN_FILES[name]);
	}
}

async function sizeOf(path: string): Promise<number> {
	return (await stat(path).catch(() => undefined))?.size ?? 0;
}
