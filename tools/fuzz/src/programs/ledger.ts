/**
 * The reference model: what the documentation promises, over a log that the program and its scripted children write.
 * Nothing in it is asked of the code under test.
 */
import { strict as assert } from "node:assert";
import { NOTIFICATION, runIdsIn } from "@pi-subagents/delivery";
import type { SessionFile, TreeEntry } from "./session-file.ts";

interface LoggedRun {
	runId: string;
	agentId: string;
	isRoot: boolean;
	isBackground: boolean;
	/** It ended by its own plan: its result is owed. */
	endedByItself: boolean;
	/** It was stopped, with its parent, or with its pi. */
	wasStopped: boolean;
	/** It was stopped although no one asked for it. */
	wasCutOff: boolean;
}

interface Message {
	text: string;
	runId: string;
	isRead: boolean;
}

export class Ledger {
	readonly runs = new Map<string, LoggedRun>();
	readonly messages = new Map<string, Message>();
	/** Requests that have no response yet, by run. */
	readonly working = new Set<string>();
	/** Runs of which something is alive. */
	readonly living = new Set<string>();
	/** Calls that have not returned. */
	readonly waits = new Set<string>();
	/** Runs that have waited for another: they take their slot back at once. */
	readonly haveWaited = new Set<string>();
	cost = 0;
	/** What a killed pi had not written is not in its session. */
	wasKilled = false;
	readonly #slots: number;
	readonly #broken: string[] = [];

	constructor(slots: number) {
		this.#slots = slots;
	}

	launched(run: Pick<LoggedRun, "runId" | "agentId" | "isRoot" | "isBackground">): void {
		this.runs.set(run.runId, { ...run, endedByItself: false, wasStopped: false, wasCutOff: false });
	}

	/** reliability.md, stops: the slot is free when the stop returns, and the agent makes no further request. */
	stopped(runId: string): void {
		this.working.delete(runId);
		const run = this.runs.get(runId);
		if (run && !run.endedByItself) run.wasStopped = true;
	}

	/** The code under test stops a child. If nobody had asked for that, its result is lost. */
	cutOff(runId: string): void {
		const run = this.runs.get(runId);
		if (run && !run.wasStopped) run.wasCutOff = true;
		this.stopped(runId);
	}

	ended(runId: string): void {
		this.living.delete(runId);
		const run = this.runs.get(runId);
		if (run && !run.wasStopped) run.endedByItself = true;
	}

	/** settings.md: `maxConcurrent` is how many agents may run at the same time. slots.ts: one that has waited takes its slot back. */
	asked(runId: string): void {
		if (this.runs.get(runId)?.wasStopped) this.#broken.push(`stops: ${runId} was stopped, and asks its model`);
		this.working.add(runId);
		const mayExceed = [...this.working].filter((each) => this.haveWaited.has(each)).length;
		if (this.working.size > this.#slots + mayExceed)
			this.#broken.push(
				`slots: ${[...this.working].join(", ")} work at the same time, and maxConcurrent is ${this.#slots}`,
			);
	}

	/** What was noticed inside a child: an error that is thrown there is the child's. */
	checkBroken(): void {
		assert.ok(this.#broken.length === 0, this.#broken[0]);
	}

	/** tools.md: "It reads the message in its next turn, or when it starts if it is still queued." */
	checkMessages(): void {
		for (const { text, runId, isRead } of this.messages.values()) {
			if (!this.runs.get(runId)?.endedByItself) continue;
			assert.ok(isRead, `messages: ${runId} accepted "${text}", ended by itself, and never read it`);
		}
	}

	/** guide.md: "you keep working; a message brings the result". That holds for what an agent launches, too. */
	checkCutOff(): void {
		const lost = [...this.runs.values()].filter(({ wasCutOff }) => wasCutOff).map(({ runId }) => runId);
		assert.deepEqual(lost, [], "cut off: stopped although no one asked for it");
	}

	checkNothingIsLeft(): void {
		assert.deepEqual([...this.waits], [], "waits: calls that never returned");
		assert.deepEqual([...this.living], [], "left behind: runs of which something is alive");
	}

	/** guide.md: "a message brings the result, exactly once, even after /reload or a crash"; types.ts: on each branch that holds its launch. */
	checkTold(file: SessionFile, tip: string): void {
		const branch = file.pathTo(tip);
		for (const { runId, isRoot, isBackground, endedByItself } of this.runs.values()) {
			if (!isRoot || !branch.some((entry) => isLaunchOf(entry, runId))) continue;
			const messages = branch.flatMap((entry, index) => (isMessageAbout(entry, runId) ? [index] : []));
			assert.ok(
				messages.length <= 1,
				`told twice: the branch of ${tip} has ${messages.length} messages about ${runId}`,
			);
			const read = branch.findIndex(({ tells }) => tells?.includes(runId));
			const [message] = messages;
			assert.ok(
				read === -1 || message === undefined || message < read,
				`told twice: on the branch of ${tip} a call had read the result of ${runId} before the message about it`,
			);
			if (!isBackground || !endedByItself) continue;
			assert.ok(
				message !== undefined || read !== -1,
				`not told: the branch of ${tip} launched ${runId}, and never learned its result`,
			);
		}
	}

	/** house rule: what was spent is what the models were asked. */
	checkMoney(spent: number): void {
		if (this.wasKilled) return;
		assert.ok(Math.abs(spent - this.cost) < 1e-9, `money: the account says ${spent}, the models' log ${this.cost}`);
	}
}

function isLaunchOf({ type, data }: TreeEntry, runId: string): boolean {
	if (type !== "custom" || typeof data !== "object" || data === null) return false;
	return "type" in data && data.type === "launched" && "runId" in data && data.runId === runId;
}

function isMessageAbout({ type, customType, details }: TreeEntry, runId: string): boolean {
	return type === "custom_message" && customType === NOTIFICATION && runIdsIn(details).includes(runId);
}
