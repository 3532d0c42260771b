/** The calls that wait for an agent or a person: a limited number at once; each may be skipped or retried meanwhile. */
import { Lanes } from "./lanes.ts";
import type { AgentResult } from "./ports.ts";

export type Verdict = "skip" | "retry";

export interface Attempt {
	/** Somebody decided before there was a result. */
	verdict?: Verdict;
	/** Absent if it was broken off. */
	result?: AgentResult;
}

interface Running {
	controller: AbortController;
	verdict?: Verdict;
}

export class Attempts {
	readonly #lanes: Lanes;
	readonly #running = new Map<string, Running>();
	#isOver = false;

	constructor(atOnce: number) {
		this.#lanes = new Lanes(atOnce);
	}

	/** Rejects as `work` does, unless it was broken off. */
	async make(path: string, work: (signal: AbortSignal) => Promise<AgentResult>): Promise<Attempt> {
		const running: Running = { controller: new AbortController() };
		const { signal } = running.controller;
		this.#running.set(path, running);
		try {
			const attempt = await this.#lanes.pass(async (): Promise<Attempt> => {
				if (this.#isOver || signal.aborted) return {};
				return { result: await work(signal) };
			});
			return { ...attempt, ...(running.verdict ? { verdict: running.verdict } : {}) };
		} catch (error) {
			if (running.verdict) return { verdict: running.verdict };
			if (this.#isOver) return {};
			throw error;
		} finally {
			this.#running.delete(path);
		}
	}

	/** Whether the call was waiting. */
	decide(path: string, verdict: Verdict): boolean {
		const running = this.#running.get(path);
		if (!running) return false;
		running.verdict = verdict;
		running.controller.abort();
		return true;
	}

	/** Those that run continue; no other one begins. */
	pause(): void {
		this.#lanes.pause();
	}

	goOn(): void {
		this.#lanes.goOn();
	}

	end(): void {
		this.#isOver = true;
		for (const { controller } of this.#running.values()) controller.abort();
	}
}
