/** What must hold for any sequence of calls, checked by a slow and simple account of the same facts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { limitOf, type SlotLimits } from "../../src/queue/limits.ts";
import { type Bench, bench } from "./slots-timer.ts";

const MODELS = ["a/1", "a/2", "b/1"];
const LONGEST_SPREAD_MS = 10_000;

interface Entry {
	id: string;
	seq: number;
	model: string;
	/** Foreground or not, child or not. */
	rank: string;
	isForeground: boolean;
	state: "queued" | "running" | "lent";
}

/** Keeps account beside the slots and complains about every grant that should not have been. */
class Account {
	readonly entries = new Map<string, Entry>();
	readonly takeBacks: { id: string; takeBack: () => void }[] = [];
	readonly bench: Bench;
	limits: SlotLimits = { whenFull: "queue" };
	readonly #pausedUntil = new Map<string, number>();
	readonly #lends = new Map<string, number>();
	#seq = 0;

	constructor(random: () => number) {
		this.bench = bench(this.limits, { random, onGrant: (id) => this.#granted(id) });
	}

	request(model: string, options: { isForeground: boolean; parent?: Entry }): void {
		const id = `x${++this.#seq}`;
		const { parent } = options;
		const isForeground = options.isForeground && (parent?.isForeground ?? true);
		const rank = `${isForeground} ${parent !== undefined}`;
		this.entries.set(id, { id, seq: this.#seq, model, rank, isForeground, state: "queued" });
		const parentId = parent === undefined ? {} : { parentId: parent.id };
		const answer = this.bench.ask(id, { model, isForeground: options.isForeground, ...parentId });
		if (answer === "granted") this.#granted(id);
	}

	release(entry: Entry | undefined): void {
		if (!entry) return;
		const { id } = entry;
		this.entries.delete(id);
		this.#lends.delete(id);
		this.bench.slots.release(id);
	}

	lend(entry: Entry | undefined): void {
		if (!entry) return;
		this.#lends.set(entry.id, (this.#lends.get(entry.id) ?? 0) + 1);
		entry.state = "lent";
		this.takeBacks.push({ id: entry.id, takeBack: this.bench.slots.lend(entry.id) });
	}

	takeBack(index: number): void {
		const [lend] = this.takeBacks.splice(index, 1);
		if (!lend) return;
		lend.takeBack();
		const entry = this.entries.get(lend.id);
		if (!entry) return;
		const left = (this.#lends.get(entry.id) ?? 1) - 1;
		this.#lends.set(entry.id, left);
		if (left === 0) entry.state = "running";
	}

	pause(provider: string, ms: number): void {
		const untilMs = this.bench.timer.now() + ms;
		this.#pausedUntil.set(provider, Math.max(untilMs, this.#pausedUntil.get(provider) ?? 0));
		this.bench.gate.pause(provider, untilMs);
	}

	setLimits(limits: SlotLimits): void {
		this.limits = limits;
		this.bench.slots.setLimits(limits);
	}

	in(state: Entry["state"]): Entry[] {
		return [...this.entries.values()].filter((entry) => entry.state === state);
	}

	/** Nobody who could run is left waiting, and the counts are right. */
	check(): void {
		const queued = this.in("queued");
		for (const [provider, untilMs] of this.#pausedUntil)
			if (this.bench.timer.now() >= untilMs + LONGEST_SPREAD_MS) this.#pausedUntil.delete(provider);
		expect(this.bench.slots.snapshot()).toMatchObject({
			running: this.in("running").length,
			queued: queued.length,
			lent: this.in("lent").length,
		});
		expect(queued.filter((entry) => this.#hasRoom(entry) && this.#isOpen(entry))).toEqual([]);
		expect(this.bench.timer.waiting()).toBeLessThanOrEqual(queued.some((entry) => !this.#isOpen(entry)) ? 1 : 0);
	}

	#granted(id: string): void {
		const entry = this.entries.get(id);
		if (entry?.state !== "queued") throw new Error(`${id} was granted and is ${entry?.state}`);
		if (!this.#hasRoom(entry)) throw new Error(`${id} was granted beyond a limit`);
		const pausedUntil = this.#pausedUntil.get(providerOf(entry)) ?? 0;
		if (pausedUntil > this.bench.timer.now()) throw new Error(`${id} was granted in a pause`);
		const isHeldBack = (older: Entry) =>
			providerOf(older) !== providerOf(entry) && this.#pausedUntil.has(providerOf(older)); // its turn comes later
		const mayPass = (older: Entry) => older.model !== entry.model && (!this.#hasRoom(older) || isHeldBack(older));
		for (const older of this.in("queued"))
			if (older.seq < entry.seq && older.rank === entry.rank && !mayPass(older))
				throw new Error(`${id} passed ${older.id}`);
		entry.state = "running";
	}

	#hasRoom({ model }: Entry): boolean {
		const running = this.in("running");
		const onModel = running.filter((entry) => entry.model === model).length;
		const provider = providerOf({ model });
		const onProvider = running.filter((entry) => providerOf(entry) === provider).length;
		return (
			running.length < limitOf(this.limits.maxConcurrent, "") &&
			onProvider < limitOf(this.limits.maxPerProvider, provider) &&
			onModel < limitOf(this.limits.maxPerModel, model)
		);
	}

	#isOpen(entry: Pick<Entry, "model">): boolean {
		return !this.#pausedUntil.has(providerOf(entry));
	}
}

function providerOf({ model }: Pick<Entry, "model">): string {
	return model.slice(0, 1);
}

interface Step {
	pick: number;
	isForeground: boolean;
	ms: number;
	limits: number[];
}

const DO = {
	request: (account, { pick, isForeground }) => account.request(MODELS[pick % 3] ?? "", { isForeground }),
	child: (account, { pick, isForeground }) => {
		const parent = one(account.in("running"), pick);
		if (parent) account.request(MODELS[pick % 3] ?? "", { isForeground, parent });
	},
	settle: (account, { pick }) => account.release(one(account.in("running"), pick)),
	cancel: (account, { pick }) => account.release(one(account.in("queued"), pick)),
	abortLent: (account, { pick }) => account.release(one(account.in("lent"), pick)),
	lend: (account, { pick }) => account.lend(one(account.in("running"), pick)),
	lendAgain: (account, { pick }) => account.lend(one(account.in("lent"), pick)),
	takeBack: (account, { pick }) => account.takeBack(pick % Math.max(1, account.takeBacks.length)),
	pause: (account, { pick, ms }) => account.pause(pick % 2 === 0 ? "a" : "b", 3 * ms),
	advance: (account, { ms }) => account.bench.timer.advance(ms),
	lag: (account, { ms }) => {
		account.bench.timer.lag(ms);
		account.bench.timer.advance(0);
	},
	limit: (account, { limits: [all = 0, provider = 0, model = 0] }) =>
		account.setLimits({
			maxConcurrent: all,
			maxPerProvider: provider,
			maxPerModel: { "a/1": model },
			whenFull: "queue",
		}),
} satisfies Record<string, (account: Account, step: Step) => void>;

function one<T>(list: readonly T[], pick: number): T | undefined {
	return list[pick % Math.max(1, list.length)];
}

const often = (weight: number, ...names: (keyof typeof DO)[]) => ({ weight, arbitrary: fc.constantFrom(...names) });
const step = fc.record({
	name: fc.oneof(often(6, "request"), often(4, "settle"), often(3, "child", "lend", "takeBack"), often(4, ...keys(DO))),
	pick: fc.nat(1_000),
	isForeground: fc.boolean(),
	ms: fc.nat(20_000),
	limits: fc.array(fc.nat(3), { minLength: 3, maxLength: 3 }),
});

function keys<T extends object>(object: T): (keyof T)[] {
	return Object.keys(object) as (keyof T)[];
}

test("any sequence of calls keeps limits and order, leaves no agent waiting that could run, and loses none", () => {
	fc.assert(
		fc.property(
			fc.array(step, { maxLength: 120, size: "max" }),
			fc.array(fc.nat(99), { minLength: 1 }),
			(steps, draws) => {
				let drawn = 0;
				const account = new Account(() => (draws[drawn++ % draws.length] ?? 0) / 100);
				for (const wanted of steps) {
					DO[wanted.name](account, wanted);
					account.check();
				}
				while (account.takeBacks.length > 0) account.takeBack(0);
				for (let rounds = account.entries.size; rounds > 0 && account.entries.size > 0; rounds--) {
					account.bench.timer.advance(100_000);
					account.check();
					for (const entry of account.in("running")) account.release(entry);
				}
				expect([...account.entries.keys()]).toEqual([]);
				expect(account.bench.timer.waiting()).toBe(0);
			},
		),
		{ numRuns: 200 },
	);
});
