/** One run from task to result: starts pi, handles its events, obeys control lines, and judges how it ended. */
import { join } from "node:path";
import type { Answer, Dialog, DialogAnswer, Question, Stop } from "@pi-subagents/core";
import { type Clock, steadyClock } from "@pi-subagents/core";
import { codeOf, messageOf, parseJson, sleep } from "@pi-subagents/core/internal/base";
import { followLines, hideFile, type LineFollower } from "@pi-subagents/core/internal/files";
import {
	Driver,
	failed,
	type Judge,
	LONGEST_PAUSE_MS,
	mayAsk,
	unanswered,
	Watchdog,
} from "@pi-subagents/core/internal/run";
import { controlPath, type RunPlace } from "@pi-subagents/core/internal/signals";
import type { ChildEvent, Outcome } from "@pi-subagents/progress";
import type { Meta, ResultFile } from "@pi-subagents/runs";
import { isWatched, RUN_FILES } from "@pi-subagents/runs";
import type { PiLaunch } from "@pi-subagents/runs/internal";
import { parseControl } from "@pi-subagents/runs/internal";
import type { PiExit, PiProcess } from "../pi/pi-process.ts";
import { Rpc, textIn } from "../pi/rpc.ts";
import { RpcCommands } from "../pi/rpc-commands.ts";
import { RunLog } from "../pi/run-log.ts";
import { runPi } from "../pi/run-pi.ts";
import type { TunnelRequest } from "../pi/tunnel.ts";
import { ChildRecord } from "./child-record.ts";
import { Completion } from "./completion.ts";
import { Dialogue } from "./dialogue.ts";
import { LiveFile } from "./live-file.ts";
import { OpenDialogs } from "./open-dialogs.ts";
import { type PassLine, PendingRequests } from "./pending-requests.ts";
import { resultOf } from "./result.ts";
import { TurnControl } from "./turns.ts";

export interface WrappedRunOptions extends RunPlace {
	meta: Meta & { launch: PiLaunch };
	clock: Clock;
	/** Called for each transcript line. */
	onLine: (line: string) => void;
}

export class WrappedRun {
	readonly #options: WrappedRunOptions;
	readonly #log: RunLog;
	readonly #record: ChildRecord;
	readonly #watchdog: Watchdog;
	readonly #pending: PendingRequests;
	readonly #dialogs = new OpenDialogs();
	readonly #rpc: Rpc;
	readonly #commands: RpcCommands;
	readonly #turns: TurnControl;
	readonly #completion: Completion;
	readonly #driver: Driver;
	readonly #dialogue: Dialogue;
	readonly #liveFile: LiveFile;
	readonly #steady: Clock;
	/** No request to the provider before this. */
	#restUntil = 0;
	#pi: PiProcess | undefined;
	#control: LineFollower | undefined;
	/** The first one counts; later output of pi does not matter. */
	#outcome: Outcome | undefined;
	#contextPercent: number | undefined;

	constructor(options: WrappedRunOptions) {
		this.#options = options;
		const { runDir: dir, meta, clock, onLine } = options;
		this.#steady = steadyClock(clock);
		this.#log = new RunLog({ dir, clock, onLine });
		this.#log.say({ type: "agent_queued" }, meta.queuedAt ?? meta.createdAt);
		this.#log.say({ type: "agent_started" });
		this.#record = new ChildRecord(meta, clock);
		this.#watchdog = new Watchdog({
			clock: this.#steady,
			limits: meta.spec.limits,
			activity: () => this.#record.current,
			quietMs: () => this.#driver.quietMs,
			onLate: (stop) => this.abort(stop),
		});
		this.#watchdog.begin(this.#steady.now());
		this.#watchdog.watch();
		this.#completion = new Completion(clock, () => this.#guard(this.#dialogue.finishOrGoOn()));
		const isOver = () => this.#outcome !== undefined;
		this.#driver = new Driver(meta.spec, {
			clock,
			around: meta.launch.around,
			emit: (event) => this.#emit(event),
			isDeaf: isOver,
			isOver,
			contextPercent: () => this.#contextPercent,
			pass: () => this.#turns.pass(),
		});
		const report = (message: string) => this.#log.notice(message);
		this.#liveFile = new LiveFile({ dir, live: this.#driver.liveText, isWatched: () => isWatched(options), report });
		this.#pending = new PendingRequests({
			clock,
			isWatched: () => isWatched(options),
			say: (event) => this.#log.say(event),
			hold: () => this.#watchdog.hold(),
		});
		this.#rpc = new Rpc({
			send: (line) => this.#pi?.write(line),
			onEvent: (raw) => this.#hear(raw),
			onRequest: (request, reply) => this.#guard(this.#answer(request, reply)),
			onTunnelNotice: (notice) => {
				if ("failed" in notice) this.#end(failed(notice.failed));
				else this.#hearRetryAfter(notice.retryAfterMs);
			},
			onNotice: (text) => this.#log.notice(text),
			onDialog: (dialog, reply) => this.#guard(this.#askUser(dialog, reply)),
			onExtensionNotice: (notice) => this.#log.extensionNotice(notice),
		});
		this.#commands = new RpcCommands(this.#rpc, clock);
		this.#turns = new TurnControl({
			driver: this.#driver,
			limits: meta.spec.limits,
			onGranted: (limits) => void this.#log.say({ type: "granted", limits }),
			checkpoint: () => this.#checkpoint(),
			rest: () => this.#rest(),
			usage: () => this.#record.current.usage,
			elapsedMs: () => this.#watchdog.elapsedMs ?? 0,
			steer: (text) => this.#steer(text),
		});
		this.#dialogue = new Dialogue({
			driver: this.#driver,
			commands: this.#commands,
			turns: this.#turns,
			completion: this.#completion,
			spec: meta.spec,
			notice: report,
			isOver,
			end: (judge) => this.#end(judge),
			emit: (event) => this.#driver.observe(event),
		});
	}

	/** Resolves when nothing of the child is left. Never rejects. */
	async live(): Promise<ResultFile> {
		const { clock, meta } = this.#options;
		const control = followLines(controlPath(this.#options), (line) => this.#obey(line), {
			clock,
			report: (message) => this.#log.notice(message),
		});
		this.#control = control;
		let exit: PiExit = {};
		try {
			await control.flush(); // what arrived before there was a child
			if (!this.#outcome) exit = await this.#converse();
		} catch (error) {
			this.crash(error);
			exit = (await this.#pi?.ended) ?? exit;
		}
		control.close();
		await this.#driver.stopChecking();
		await this.#closeConversation();
		this.#watchdog.close();
		this.#driver.liveText.close();
		this.#liveFile.close();
		const outcome = withPlaceOfDisk(this.#outcome ?? this.#driver.outcome(), this.#options.runDir);
		this.#log.say({ type: "agent_settled", status: outcome.status });
		this.#log.close();
		return resultOf({
			meta,
			exit,
			outcome,
			last: this.#driver.finalMessage.last,
			record: this.#record.current,
			completedAt: clock.now(),
			durationMs: this.#watchdog.elapsedMs ?? 0,
			lost: this.#log.lost,
		});
	}

	/** A watcher that left may have said last what is allowed without one. */
	async #checkpoint(): Promise<PassLine | undefined> {
		const pass = await this.#pending.checkpoint();
		if (!pass) await this.#control?.flush();
		return pass;
	}

	/** pi's files have the user's default permissions. This one is for the user alone. */
	async #closeConversation(): Promise<void> {
		try {
			await hideFile(join(this.#options.runDir, RUN_FILES.session));
		} catch (error) {
			if (codeOf(error) !== "ENOENT") this.#log.notice(`${RUN_FILES.session}: ${messageOf(error)}`);
		}
	}

	abort(stop: Stop): void {
		this.#settle(this.#driver.stopped(stop), "now");
	}

	/** Our fault, not the child's; its partial work is kept. */
	crash(error: unknown): void {
		this.#settle(this.#driver.failed(`The agent's wrapper failed: ${messageOf(error)}`), "now");
	}

	async #converse(): Promise<PiExit> {
		const { agentDir, runDir, meta, clock } = this.#options;
		const { exit, why } = await runPi({
			agentDir,
			runDir,
			meta,
			clock,
			log: this.#log,
			rpc: this.#rpc,
			onDelta: (line) => this.#hearDelta(line),
			onStart: (pi) => {
				this.#pi = pi;
				if (pi.pid !== undefined) this.#guard(this.#dialogue.begin());
			},
			nextModel: (error) => (this.#outcome ? undefined : this.#dialogue.replaceModel(error)),
		});
		const { hasAnswered } = this.#completion;
		this.#settle(hasAnswered ? await this.#dialogue.conclude() : this.#driver.failed(why), "gently");
		return exit;
	}

	#obey(text: string): void {
		const line = parseControl(text);
		switch (line?.type) {
			case "steer":
				this.#log.say({ type: "agent_steered", message: line.message });
				this.#turns.steer(line.message);
				break;
			case "wrap_up":
				this.#driver.hurry(line.reason, line.by);
				break;
			case "abort":
				this.abort(line.stop);
				break;
			case "alone":
				this.#turns.limitAlone(line.limits);
				break;
			case "watch":
				this.#liveFile.watch(line.id);
				break;
			case "answer":
			case "dialog":
			case "pass":
				this.#pending.deliver(line);
		}
	}

	#hearDelta(line: string): void {
		this.#driver.stir();
		this.#log.pulse();
		this.#driver.write(textIn(line));
		const { liveText } = this.#driver;
		if (liveText.isWatched && !this.#outcome) liveText.hear(parseJson(line));
	}

	#hear(raw: Record<string, unknown>): void {
		this.#dialogs.hear(raw);
		if (raw.type === "auto_retry_start") this.#turns.retry();
		if (raw.type === "agent_start") {
			this.#driver.retryAfter.forget();
			this.#commands.begun();
			this.#completion.goOn();
		}
		this.#driver.hear(raw);
	}

	#emit(event: ChildEvent): void {
		this.#commands.begun();
		this.#log.childDid(event);
		this.#record.observe(event);
		this.#watchdog.observe(event, this.#steady.now());
		this.#completion.hear(event);
		if (event.type === "idle") this.#guard(this.#confirmIdle());
	}

	/** An extension may have begun something just when pi became idle. */
	async #confirmIdle(): Promise<void> {
		if (await this.#commands.isBusy()) this.#completion.goOn();
		else this.#completion.confirm();
	}

	#hearRetryAfter(ms: number): void {
		this.#driver.retryAfter.note(ms);
		this.#restUntil = this.#steady.now() + Math.min(this.#driver.retryAfter.ms ?? 0, LONGEST_PAUSE_MS);
	}

	async #rest(): Promise<void> {
		const ms = this.#restUntil - this.#steady.now();
		if (ms <= 0) return;
		const goOn = this.#watchdog.hold();
		await sleep(ms, this.#steady);
		goOn();
	}

	async #steer(text: string): Promise<void> {
		const error = await this.#commands.steer(text);
		if (error !== undefined) this.#log.notice(`A message could not be delivered to the agent: ${error}`);
	}

	/** The child waits for its reply. If it must stop, it gets none: its pi is being ended. */
	async #answer(request: TunnelRequest, reply: (value: string) => void): Promise<void> {
		if (this.#outcome) return;
		this.#commands.begun();
		this.#completion.expectIdle();
		if (request.ask !== "turn_end" || this.#turns.goesOn(request)) this.#completion.goOn();
		switch (request.ask) {
			case "question":
				return reply(JSON.stringify(await this.#ask(request.question)));
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
				this.#driver.observe({ type: "turn" }); // pi would report it only after our reply
				return this.#end(word);
			}
		}
	}

	/** A child that was not given the tool has no way to ask, unless something in it writes to its pi's output. */
	async #ask(question: Question): Promise<Answer> {
		return mayAsk(this.#options.meta.spec) ? this.#pending.ask(question) : unanswered(question, "absent");
	}

	/** A dialog of another extension. pi itself settles one that its extension withdraws, and ignores the late reply. */
	async #askUser(dialog: Dialog, reply: (answer: DialogAnswer | undefined) => void): Promise<void> {
		const open = this.#outcome ? undefined : this.#dialogs.begin();
		if (!open) return reply(undefined);
		try {
			reply(await this.#pending.dialog(dialog, open.signal));
		} finally {
			open.end();
		}
	}

	#end(judge: Judge): void {
		this.#settle(judge(this.#driver.finalMessage), "gently");
	}

	#settle(outcome: Outcome, how: "gently" | "now"): void {
		if (this.#outcome) return;
		this.#outcome = outcome;
		this.#completion.close();
		this.#dialogs.close();
		void this.#driver.stopChecking();
		this.#pi?.end(how);
	}

	#guard(work: Promise<unknown>): void {
		work.catch((error) => this.crash(error));
	}
}

/** pi says that it could not write, and not what: it fails when it cannot continue its conversation. */
function withPlaceOfDisk(outcome: Outcome, dir: string): Outcome {
	const code = outcome.status === "failed" ? /^(?:ENOSPC|EDQUOT)\b/.exec(outcome.error) : undefined;
	if (outcome.status !== "failed" || !code) return outcome;
	const what = `There is no room on the disk of ${dir}, so its conversation could not go on`;
	const then = `What was written of it is in ${join(dir, RUN_FILES.session)}. Make room, then resume the agent`;
	return { ...outcome, error: `${outcome.error}. ${what}. ${then}.` };
}
