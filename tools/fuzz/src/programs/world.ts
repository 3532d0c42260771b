/** Runs a program against the real manager and delivery, and checks it against the reference model. */
import { strict as assert } from "node:assert";
import { Ledger } from "./ledger.ts";
import { Pi } from "./pi.ts";
import { linesOf, type Program, type Step } from "./program.ts";
import { SessionFile } from "./session-file.ts";
import { calm, WorldTime } from "./time.ts";

/** Throws an error that names the broken promise and the program. */
export async function runProgram(program: Program): Promise<void> {
	const problems: unknown[] = [];
	const onError = (error: unknown) => void problems.push(error);
	process.on("unhandledRejection", onError);
	try {
		await new World(program).run();
		assert.deepEqual(problems, [], "an error that no one handled");
	} catch (error) {
		const text = error instanceof Error ? error.message : String(error);
		throw new Error(`${text}\n${linesOf(program).join("\n")}`, { cause: error });
	} finally {
		process.off("unhandledRejection", onError);
	}
}

class World {
	readonly #program: Program;
	readonly #time = new WorldTime();
	readonly #ledger: Ledger;
	readonly #files: SessionFile[] = [];
	#agents = 0;
	#pi: Pi;

	constructor(program: Program) {
		this.#program = program;
		this.#ledger = new Ledger(program.slots);
		this.#pi = this.#newPi(this.#newFile());
	}

	async run(): Promise<void> {
		await this.#pi.open();
		for (const step of this.#program.steps) {
			await this.#do(step);
			await calm();
			this.#ledger.checkBroken();
		}
		await this.#rest();
		this.#ledger.checkBroken();
		this.#ledger.checkNothingIsLeft();
		this.#ledger.checkCutOff();
		this.#ledger.checkMessages();
		if (this.#files.length === 1) this.#ledger.checkMoney(this.#pi.manager.store.spent().usage.cost);
		await this.#close();
		for (const file of this.#files) await this.#visit(file);
		assert.equal(this.#time.waiting, 0, "left behind: timers");
	}

	async #do(step: Step): Promise<void> {
		switch (step.step) {
			case "turn":
				return this.#pi.prompt(step.calls);
			case "user":
				if (step.does === "launch") return this.#pi.userLaunches(step.plan);
				return step.does === "steer" ? this.#pi.userSteers(step.agent) : this.#pi.userStops(step.agent);
			case "escape":
				return this.#pi.escape();
			case "time":
				return this.#time.pass(step.ms);
			case "rewind":
				return this.#pi.rewind(step.entry);
			case "fork":
				return this.#fork(step.entry);
			case "reload":
			case "kill":
				return this.#restart(step.step);
		}
	}

	async #restart(how: "reload" | "kill"): Promise<void> {
		const { file } = this.#pi.session;
		if (how === "kill") this.#pi.kill();
		else await this.#close();
		this.#pi = this.#newPi(file);
		await this.#pi.open();
	}

	/** pi leaves the session, and opens a copy of the branch up to this entry. */
	async #fork(entry: number): Promise<void> {
		const { session, isBusy } = this.#pi;
		const at = session.entries[entry % Math.max(1, session.entries.length)];
		if (isBusy || !at) return;
		await this.#close();
		this.#pi = this.#newPi(this.#newFile(session.file.pathTo(at.id)));
		await this.#pi.open();
	}

	/** Until nothing moves any more, with a user who says something in between. */
	async #rest(): Promise<void> {
		for (let round = 0; round < 3; round++) {
			await this.#time.pass(120_000);
			this.#pi.prompt([]);
		}
		await this.#time.pass(120_000);
	}

	async #close(): Promise<void> {
		await this.#pi.quit();
		assert.deepEqual(this.#pi.left, { timers: 0, holds: 0 }, "left behind: by a pi that has ended");
		const { running, queued } = this.#pi.manager.slots();
		assert.deepEqual({ running, queued }, { running: 0, queued: 0 }, "left behind: slots");
	}

	/** Opens the session once more, and looks at each of its branches. */
	async #visit(file: SessionFile): Promise<void> {
		this.#pi = this.#newPi(file);
		await this.#pi.open();
		for (const tip of file.tips()) {
			this.#pi.goTo(tip);
			await this.#time.pass(120_000);
			this.#ledger.checkTold(file, this.#pi.session.leaf ?? tip);
		}
		await this.#close();
	}

	#newFile(entries: ConstructorParameters<typeof SessionFile>[1] = []): SessionFile {
		const file = new SessionFile(`s${this.#files.length + 1}`, entries);
		this.#files.push(file);
		return file;
	}

	#newPi(file: SessionFile): Pi {
		return new Pi({
			time: this.#time,
			file,
			ledger: this.#ledger,
			slots: this.#program.slots,
			newId: () => `a${++this.#agents}`,
		});
	}
}
