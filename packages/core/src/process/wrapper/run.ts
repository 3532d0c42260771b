/** One run from its task to its result: starts pi, hears what it says, obeys what is said to it, judges how it ended. */
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { type AssistantText, type ChildEvent, normalize, type Outcome } from "@pi-subagents/progress";
import { messageOf } from "../../best-effort.ts";
import type { Clock } from "../../clock.ts";
import { abortedOutcome, outcomeOf } from "../../outcome.ts";
import type { Stop } from "../../runner.ts";
import type { TunnelRequest } from "../child/tunnel.ts";
import { codeOf } from "../code-of.ts";
import { identityOf } from "../identity.ts";
import { type Meta, type PiLaunch, type ResultFile, RUN_FILES } from "../layout.ts";
import { isWatched } from "../owner.ts";
import { followLines } from "../tail.ts";
import { Completion } from "./completion.ts";
import { parseControl } from "./control.ts";
import { Desk } from "./desk.ts";
import { exitError, Tail } from "./exit-error.ts";
import { Journal } from "./journal.ts";
import { type PiExit, PiProcess } from "./pi-process.ts";
import { resultOf } from "./result.ts";
import { isDelta, Rpc } from "./rpc.ts";
import { Stopwatch } from "./stopwatch.ts";
import { type Judge, Turns } from "./turns.ts";

export interface WrappedRunOptions {
	dir: string;
	meta: Meta & { launch: PiLaunch };
	clock: Clock;
	/** Hears each line that a person would read. */
	onLine: (line: string) => void;
}

/** How often, and after how long each time, a pi that took a task and does not begin is asked what it does. */
const LOOKS = 3;
const LOOK_MS = 2_000;

export class WrappedRun {
	readonly #options: WrappedRunOptions;
	readonly #journal: Journal;
	readonly #stopwatch: Stopwatch;
	readonly #desk: Desk;
	readonly #rpc: Rpc;
	readonly #turns: Turns;
	readonly #completion: Completion;
	readonly #stderr = new Tail();
	#pi: PiProcess | undefined;
	/** The first one counts. Nothing that pi says after it matters. */
	#outcome: Outcome | undefined;
	/** pi has begun with what it was last asked to do. */
	#hasBegun = false;
	#contextPercent: number | undefined;
	#last: AssistantText | undefined;
	#said: string | undefined;

	constructor(options: WrappedRunOptions) {
		this.#options = options;
		const { dir, meta, clock, onLine } = options;
		this.#journal = new Journal({ dir, clock, onLine });
		this.#stopwatch = new Stopwatch(meta, clock, (stop) => this.abort(stop));
		this.#completion = new Completion(clock, () => this.#finishOrGoOn());
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
		this.#turns = new Turns({
			limits: meta.spec.limits,
			onGranted: (limits) => void this.#journal.say({ type: "granted", limits }),
			checkpoint: () => this.#desk.checkpoint(),
			usage: () => this.#stopwatch.record.usage,
			steer: (text) => this.#steer(text),
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
			last: this.#last,
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
		this.#settle(abortedOutcome(stop, this.#said), "now");
	}

	/** We are at fault, not the child; what there is of its work is kept. */
	crash(error: unknown): void {
		this.#settle(this.#failed(`The agent's wrapper failed: ${messageOf(error)}`), "now");
	}

	async #converse(): Promise<PiExit> {
		const { dir, clock, meta } = this.#options;
		const pi = new PiProcess({
			launch: meta.launch,
			cwd: meta.cwd,
			runDir: dir,
			clock,
			onLine: (line) => {
				if (isDelta(line)) return;
				this.#journal.stdout(line);
				this.#rpc.hear(line);
			},
			onSkipped: (bytes) => this.#rpc.skip(bytes),
			onStderr: (bytes) => {
				this.#journal.stderr(bytes);
				this.#stderr.push(bytes);
			},
		});
		this.#pi = pi;
		if (pi.pid !== undefined) {
			this.#guard(this.#prompt(meta.task));
			this.#journal.say({ type: "child_started", ...(await identityOf(pi.pid)) });
		}
		const exit = await pi.ended;
		const { hasAnswered } = this.#completion;
		this.#settle(hasAnswered ? this.#judge() : this.#failed(exitError(exit, meta, this.#stderr.text)), "gently");
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
			this.#hasBegun = true;
			this.#completion.goOn();
		}
		for (const event of normalize(raw)) this.#observe(event);
	}

	#observe(event: ChildEvent): void {
		if (this.#outcome) return;
		this.#hasBegun = true;
		if (event.type === "assistant_text") {
			this.#last = event;
			if (event.text.trim() !== "") this.#said = event.text;
		}
		const percent = this.#contextPercent;
		const full = event.type === "turn" && percent !== undefined ? { ...event, contextPercent: percent } : event;
		this.#stopwatch.observe(full, this.#journal.childDid(full));
		this.#completion.hear(event);
		if (event.type === "idle") this.#guard(this.#confirmIdle());
	}

	/** An extension may have begun something new in the very moment in which pi was idle. */
	async #confirmIdle(): Promise<void> {
		if (await this.#isBusy()) this.#completion.goOn();
		else this.#completion.confirm();
	}

	async #isBusy(): Promise<boolean> {
		const { data } = await this.#rpc.request({ type: "get_state" });
		return data.isStreaming === true || data.isCompacting === true;
	}

	/** What comes when the child has just finished is one more thing to do. */
	#finishOrGoOn(): void {
		const more = this.#turns.takeSteers();
		if (more === undefined) this.#settle(this.#judge(), "gently");
		else this.#guard(this.#prompt(more));
	}

	async #prompt(text: string): Promise<void> {
		this.#completion.goOn();
		this.#hasBegun = false;
		const message = harmless(text);
		const { success, error } = await this.#rpc.request({ type: "prompt", message, streamingBehavior: "steer" });
		if (!success) this.#settle(this.#failed(error || "pi refused the task."), "gently");
		else await this.#requireBegin();
	}

	/** Another extension may take what the child is asked as its own business: then pi never begins. */
	async #requireBegin(): Promise<void> {
		for (let look = 0; look < LOOKS; look++) {
			await new Promise<void>((resolve) => void this.#options.clock.after(LOOK_MS, resolve));
			if (this.#hasBegun || this.#outcome || (await this.#isBusy())) return;
		}
		if (!this.#hasBegun) this.#settle(this.#failed(TASK_TAKEN), "gently");
	}

	async #steer(text: string): Promise<void> {
		const { success, error } = await this.#rpc.request({ type: "steer", message: harmless(text) });
		if (!success) this.#journal.notice(`A message could not be given to the agent: ${error}`);
	}

	/** The child waits until it gets its reply. One that must not go on gets none: then its pi is being ended. */
	async #answer(request: TunnelRequest, reply: (value: string) => void): Promise<void> {
		this.#hasBegun = true;
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
		this.#settle(judge(this.#last, this.#said), "gently");
	}

	#judge(): Outcome {
		const outcome = outcomeOf(this.#last, this.#said);
		return outcome.status === "completed" && this.#turns.isWrappingUp ? { ...outcome, wrappedUp: true } : outcome;
	}

	#failed(error: string): Outcome {
		return outcomeOf({ type: "assistant_text", text: "", error }, this.#said);
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

const TASK_TAKEN =
	"An extension took the task, so the agent never began. Exclude that extension in the preset (`exclude_extensions`).";

/** The text is for the model: a leading slash must not run a command or a template. */
function harmless(text: string): string {
	return text.startsWith("/") ? ` ${text}` : text;
}
