/** One run from its task to its result: starts pi, hears what it says, obeys what is said to it, judges how it ended. */
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { type ChildEvent, normalize, type Outcome } from "@pi-subagents/progress";
import { messageOf } from "../../best-effort.ts";
import type { Clock } from "../../clock.ts";
import { LastWords } from "../../last-words.ts";
import { abortedOutcome, outcomeOf } from "../../outcome.ts";
import type { Stop } from "../../runner.ts";
import { Sequel } from "../../sequel.ts";
import type { TunnelRequest } from "../child/tunnel.ts";
import { codeOf } from "../code-of.ts";
import { type Meta, type PiLaunch, type ResultFile, RUN_FILES } from "../layout.ts";
import { isWatched } from "../owner.ts";
import { followLines } from "../tail.ts";
import { Completion } from "./completion.ts";
import { parseControl } from "./control.ts";
import { Desk } from "./desk.ts";
import { Dialogue } from "./dialogue.ts";
import { Journal } from "./journal.ts";
import type { PiExit, PiProcess } from "./pi-process.ts";
import { resultOf } from "./result.ts";
import { Rpc } from "./rpc.ts";
import { runPi } from "./run-pi.ts";
import { Speech } from "./speech.ts";
import { Stopwatch } from "./stopwatch.ts";
import { type Judge, Turns } from "./turns.ts";

export interface WrappedRunOptions {
	dir: string;
	meta: Meta & { launch: PiLaunch };
	clock: Clock;
	/** Hears each line that a person would read. */
	onLine: (line: string) => void;
}

export class WrappedRun {
	readonly #options: WrappedRunOptions;
	readonly #journal: Journal;
	readonly #stopwatch: Stopwatch;
	readonly #desk: Desk;
	readonly #rpc: Rpc;
	readonly #speech: Speech;
	readonly #turns: Turns;
	readonly #completion: Completion;
	readonly #sequel: Sequel;
	readonly #dialogue: Dialogue;
	readonly #words = new LastWords();
	#pi: PiProcess | undefined;
	/** The first one counts. Nothing that pi says after it matters. */
	#outcome: Outcome | undefined;
	#contextPercent: number | undefined;

	constructor(options: WrappedRunOptions) {
		this.#options = options;
		const { dir, meta, clock, onLine } = options;
		this.#journal = new Journal({ dir, clock, onLine });
		this.#stopwatch = new Stopwatch(meta, clock, (stop) => this.abort(stop));
		this.#completion = new Completion(clock, () => this.#guard(this.#dialogue.finishOrGoOn()));
		this.#sequel = new Sequel(meta.spec, clock);
		this.#desk = new Desk({
			clock,
			isWatched: () => isWatched(dir),
			say: (event) => this.#journal.say(event),
			hold: () => this.#stopwatch.hold(),
		});
		this.#rpc = new Rpc({
			send: (line) => this.#pi?.write(line),
			onEvent: (raw) => this.#hear(raw),
			onRequest: (request, reply) => this.#guard(this.#answer(request, reply)),
			onNotice: (text) => this.#journal.notice(text),
		});
		this.#speech = new Speech(this.#rpc, clock);
		this.#turns = new Turns({
			limits: meta.spec.limits,
			onGranted: (limits) => void this.#journal.say({ type: "granted", limits }),
			checkpoint: () => this.#desk.checkpoint(),
			usage: () => this.#stopwatch.record.usage,
			steer: (text) => this.#steer(text),
		});
		this.#dialogue = new Dialogue({
			sequel: this.#sequel,
			speech: this.#speech,
			turns: this.#turns,
			completion: this.#completion,
			thinking: meta.spec.thinking,
			isOver: () => this.#outcome !== undefined,
			verdict: () => ({ outcome: this.#judge(), last: this.#words.last }),
			end: (judge) => this.#end(judge),
			failed: (why) => this.#failed(why),
			tell: (event) => this.#observe(event),
		});
	}

	/** Resolves when nothing of the child is left. Never rejects. */
	async live(): Promise<ResultFile> {
		const { dir, clock, meta } = this.#options;
		const control = followLines(join(dir, RUN_FILES.control), (line) => this.#obey(line), {
			clock,
			report: (message) => this.#journal.notice(message),
		});
		let exit: PiExit = {};
		try {
			await control.flush(); // what was said before there is a child to hear it
			if (!this.#outcome) exit = await this.#converse();
		} catch (error) {
			this.crash(error);
			exit = (await this.#pi?.ended) ?? exit;
		}
		control.close();
		await this.#closeConversation();
		this.#stopwatch.close();
		this.#journal.close();
		return resultOf({
			meta,
			exit,
			outcome: this.#outcome ?? this.#judge(),
			last: this.#words.last,
			record: this.#stopwatch.record,
			completedAt: clock.now(),
			lost: this.#journal.lost,
		});
	}

	/** pi lets others read what it writes, as far as the user's own settings do. This is for the user alone. */
	async #closeConversation(): Promise<void> {
		try {
			await chmod(join(this.#options.dir, RUN_FILES.session), 0o600);
		} catch (error) {
			if (codeOf(error) !== "ENOENT") this.#journal.notice(`${RUN_FILES.session}: ${messageOf(error)}`);
		}
	}

	abort(stop: Stop): void {
		this.#settle(abortedOutcome(stop, this.#words.said), "now");
	}

	/** We are at fault, not the child; what there is of its work is kept. */
	crash(error: unknown): void {
		this.#settle(this.#failed(`The agent's wrapper failed: ${messageOf(error)}`), "now");
	}

	async #converse(): Promise<PiExit> {
		const { dir, meta, clock } = this.#options;
		const { exit, why } = await runPi({
			dir,
			meta,
			clock,
			journal: this.#journal,
			rpc: this.#rpc,
			onStart: (pi) => {
				this.#pi = pi;
				if (pi.pid !== undefined) this.#guard(this.#dialogue.begin());
			},
			nextModel: (error) => (this.#outcome ? undefined : this.#dialogue.replaceModel(error)),
		});
		const { hasAnswered } = this.#completion;
		this.#settle(hasAnswered ? await this.#dialogue.conclude() : this.#failed(why), "gently");
		return exit;
	}

	#obey(text: string): void {
		const line = parseControl(text);
		switch (line?.type) {
			case "steer":
				this.#turns.steer(line.message);
				break;
			case "wrap_up":
				this.#turns.wrapUp(line.reason);
				break;
			case "abort":
				this.abort(line.stop);
				break;
			case "answer":
			case "pass":
				this.#desk.deliver(line);
		}
	}

	#hear(raw: Record<string, unknown>): void {
		if (raw.type === "auto_retry_start") this.#turns.retry();
		if (raw.type === "agent_start") {
			this.#speech.begun();
			this.#completion.goOn();
		}
		for (const event of normalize(raw)) this.#observe(event);
	}

	#observe(event: ChildEvent): void {
		if (this.#outcome) return;
		this.#speech.begun();
		this.#words.hear(event);
		this.#sequel.hear(event);
		const percent = this.#contextPercent;
		const full = event.type === "turn" && percent !== undefined ? { ...event, contextPercent: percent } : event;
		this.#journal.childDid(full);
		this.#stopwatch.observe(full);
		this.#completion.hear(event);
		if (event.type === "idle") this.#guard(this.#confirmIdle());
	}

	/** An extension may have begun something new in the very moment in which pi was idle. */
	async #confirmIdle(): Promise<void> {
		if (await this.#speech.isBusy()) this.#completion.goOn();
		else this.#completion.confirm();
	}

	async #steer(text: string): Promise<void> {
		const error = await this.#speech.steer(text);
		if (error !== undefined) this.#journal.notice(`A message could not be given to the agent: ${error}`);
	}

	/** The child waits until it gets its reply. One that must not go on gets none: then its pi is being ended. */
	async #answer(request: TunnelRequest, reply: (value: string) => void): Promise<void> {
		this.#speech.begun();
		this.#completion.expectIdle();
		if (request.ask !== "turn_end" || this.#turns.goesOn(request)) this.#completion.goOn();
		switch (request.ask) {
			case "question":
				return reply(JSON.stringify(await this.#desk.ask(request.question)));
			case "begin":
				return reply(await this.#turns.begin());
			case "loop": {
				const judge = await this.#turns.loop();
				return judge ? this.#end(judge) : reply("go");
			}
			case "turn_end": {
				this.#contextPercent = request.contextPercent;
				const word = await this.#turns.afterTurn(request);
				if (typeof word === "string") return reply(word);
				this.#observe({ type: "turn" }); // pi would say so only after our reply
				return this.#end(word);
			}
		}
	}

	#end(judge: Judge): void {
		this.#settle(judge(this.#words), "gently");
	}

	#judge(): Outcome {
		const outcome = this.#words.outcome();
		return outcome.status === "completed" && this.#turns.isWrappingUp ? { ...outcome, wrappedUp: true } : outcome;
	}

	#failed(error: string): Outcome {
		return outcomeOf({ type: "assistant_text", text: "", error }, this.#words.said);
	}

	#settle(outcome: Outcome, how: "gently" | "now"): void {
		if (this.#outcome) return;
		this.#outcome = outcome;
		this.#completion.close();
		this.#pi?.end(how);
	}

	#guard(work: Promise<unknown>): void {
		work.catch((error) => this.crash(error));
	}
}
