/**
 * Waiting without sleeping: checks a condition now and after every change, until it holds or the time is up. No test knows
 * how fast a machine is, so none has a number of its own: on a busy machine all waits are as many times longer as there are
 * programs for each core. That decides only when a test fails, never how long it takes. Imports nothing of the testkit, so
 * that any test may, and vitest's set-up.
 */
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** The time for one wait on a machine that does little else. */
const WAIT_MS = 30_000;

/** A hang must end, whatever the machine does. */
const MOST_TIMES = 10;

/** A test may take as long as this many waits, so that a wait that fails gets to say what it saw. */
export const WAITS_PER_TEST = 4;

/** How long something may take that should happen. For more than that, for example a storm, say how many `waits` it has. */
export function patienceMs(waits = 1, load = machineLoad()): number {
	return Math.round(WAIT_MS * waits * slowdown(load));
}

/** How many times longer things take here and now than on a machine that does little else. */
export function slowdown(load = machineLoad()): number {
	return Math.min(MOST_TIMES, Math.max(1, load));
}

/** How many programs wanted each core during the last minute. Windows does not say: there it is 0. */
function machineLoad(): number {
	return (loadavg()[0] ?? 0) / availableParallelism();
}

/** How long a program that was told to end may take before it is killed. */
export function graceMs(): number {
	return patienceMs(1 / 6);
}

/** Calls `giveUp` when the time is over, and not before the machine had its chance. Returns how to stop that. */
export function whenImpatient(giveUp: (waitedMs: number) => void, patience: () => number = patienceMs): () => void {
	const begunAt = performance.now();
	const look = () => {
		const waitedMs = Math.round(performance.now() - begunAt);
		const leftMs = patience() - waitedMs; // it may be busier than it was at first
		if (leftMs <= 0) giveUp(waitedMs);
		else timer = setTimeout(look, leftMs);
	};
	let timer = setTimeout(look, patience());
	return () => clearTimeout(timer);
}

/** The first thing that `look` finds: for files and processes, which do not say when they change. */
export async function until<T>(
	what: string,
	look: () => T | undefined | Promise<T | undefined>,
	everyMs = 20,
): Promise<T> {
	for (const begunAt = performance.now(); ; await delay(everyMs)) {
		const found = await look();
		if (found !== undefined) return found;
		const waitedMs = performance.now() - begunAt;
		if (waitedMs > patienceMs()) throw new Error(`Waited ${Math.round(waitedMs / 1_000)} s in vain: ${what}.`);
	}
}

/** A promise that the test resolves, for `Reply.gate`. */
export interface Gate extends Promise<void> {
	open(): void;
}

export function createGate(): Gate {
	let open = () => {};
	const promise = new Promise<void>((resolve) => {
		open = resolve;
	});
	return Object.assign(promise, { open: () => open() });
}

interface Waiter {
	look(): void;
	fail(reason: string): void;
}

export interface WaitOptions {
	/** For tests of the wait itself. Without it, a wait is as patient as the machine is busy. */
	readonly timeoutMs?: number;
	/** For the error: what was expected and what there is instead. Called only on failure. */
	readonly describe: () => string;
}

/** The waiters on one changing object: a log, a screen, a process. */
export class Signal {
	readonly #waiters = new Set<Waiter>();
	#ended: string | undefined;

	/** Resolves with the first value of `look` that is not undefined. */
	waitFor<T>(look: () => T | undefined, options: WaitOptions): Promise<T> {
		return new Promise<T>((resolve, reject) => {
			const settle = () => {
				stopTimer();
				this.#waiters.delete(waiter);
			};
			const waiter: Waiter = {
				look: () => {
					try {
						const value = look();
						if (value === undefined) return;
						settle();
						resolve(value);
					} catch (error) {
						settle();
						reject(error);
					}
				},
				fail: (reason) => {
					settle();
					reject(new Error(`${reason}\n${options.describe()}`));
				},
			};
			const stopTimer = whenImpatient(
				(waitedMs) => waiter.fail(`Gave up after ${waitedMs} ms`),
				() => options.timeoutMs ?? patienceMs(),
			);
			this.#waiters.add(waiter);
			waiter.look();
			if (this.#ended !== undefined && this.#waiters.has(waiter)) waiter.fail(this.#ended);
		});
	}

	/** Something changed. */
	changed(): void {
		for (const waiter of [...this.#waiters]) waiter.look();
	}

	/** Nothing will change any more: open waits fail now, and so do later ones whose condition does not hold. */
	end(reason: string): void {
		this.changed();
		this.#ended ??= reason;
		for (const waiter of [...this.#waiters]) waiter.fail(reason);
	}
}
