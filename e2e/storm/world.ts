/** A real pi in a storm: carries out what the plan says, waits for the calm, and asks the oracle. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type PiBinary, patienceMs, until } from "@pi-subagents-dev/testkit";
import type { Watched } from "../support/extensions/watcher.ts";
import type { Scene } from "../support/scene.ts";
import { type Course, carryOut, newCourse, type Stage, spoil } from "./acts.ts";
import {
	checksIn,
	extraFigures,
	leftThere,
	remoteWrites,
	verifyViolations,
	workflowViolations,
} from "./extras-oracle.ts";
import { calmExtras } from "./extras-stage.ts";
import { tolerantLinesOf } from "./files.ts";
import { Gathering, lyingAbout } from "./leftovers.ts";
import type { StormModel } from "./model.ts";
import {
	type Account,
	accountOf,
	isOver,
	jobViolations,
	leftProcesses,
	unbalanced,
	unsaid,
	violationsOf,
} from "./oracle.ts";
import { LAGS, patiently } from "./patience.ts";
import type { Plan } from "./plan.ts";
import type { Repository } from "./repository.ts";
import { lasting } from "./spy.ts";
import { StormPi } from "./storm-pi.ts";
import { Weather } from "./weather.ts";

export interface StormReport {
	seed: number;
	violations: string[];
	agents: number;
	/** What was done, and how often. */
	acts: Record<string, number>;
	/** How many writes failed because of the disk, by the error. */
	faults: Record<string, number>;
	/** What it had besides agents. */
	extras: Record<string, number>;
	heapMegabytes: number;
}

/** Nothing more is asked for so long: who waits for more would wait for ever. */
const QUIET_MS = 200;

export class World {
	readonly #it: Scene;
	readonly #model: StormModel;
	readonly #weather: Weather;
	readonly #repository: Repository;
	readonly #binary: PiBinary | undefined;
	readonly #lying = new Set<string>();
	#gathering = new Gathering();
	#pi: StormPi;
	#session = "";
	#askedBefore = 0;
	#course: Course = newCourse();

	constructor(
		it: Scene,
		{ model, repository, pi }: { model: StormModel; repository: Repository; pi?: PiBinary | undefined },
	) {
		this.#it = it;
		this.#binary = pi;
		this.#model = model;
		this.#weather = new Weather(it.env);
		this.#repository = repository;
		this.#pi = new StormPi(it.env, { pi });
	}

	async run(plan: Plan): Promise<StormReport> {
		await this.#weather.begin();
		await this.#pi.rpc.send({ type: "new_session" });
		for (const name of ["bus.jsonl", "jobs.jsonl", "checks.log"]) await rm(this.#at(name), { force: true });
		this.#course = newCourse();
		this.#pi.skip();
		this.#model.begin(plan);
		this.#session = await this.#pi.sessionFile();
		await this.#pi.command("The storm begins.");
		const { acts } = this.#course;
		await until("the session's model has launched them", async () => this.#model.asked > 1 || undefined);
		for (const act of plan.acts) {
			await this.#untilAsked(act.afterRequests);
			if (await carryOut(act, this.#stage())) acts[act.does] = (acts[act.does] ?? 0) + 1;
		}
		await this.#weather.clear();
		this.#model.calm();
		await calmExtras(this.#stage());
		await this.#pi.saySomething(); // after a turn that was broken off nothing begins before the user speaks
		const account = await this.#untilOver();
		const faults: Record<string, number> = {};
		for (const { code } of await this.#weather.faults()) faults[code] = (faults[code] ?? 0) + 1;
		const violations = account ? await this.#judge(account, plan) : await this.#neverEnded();
		const report = await this.report();
		await this.#repository.reset();
		return {
			seed: plan.seed,
			violations: [...violations, ...this.#gathering.violations(report)],
			agents: account?.launched.size ?? 0,
			acts,
			faults,
			extras: account ? extraFigures(plan, account, await checksIn(this.#it.env)) : {},
			heapMegabytes: report.heapMegabytes,
		};
	}

	report(): Promise<Watched> {
		return this.#pi.report();
	}

	async close(): Promise<void> {
		await this.#pi.close();
	}

	async #judge(account: Account, plan: Plan): Promise<string[]> {
		const { wasKilled, hasLostEntries, isOnlyInMemory, spoiled, acts } = this.#course;
		const faults = await this.#weather.faults();
		const failed = [...account.launched.values()].filter(
			({ artifacts }) => artifacts && faults.some(({ path }) => path.startsWith(artifacts)),
		);
		const unwhole = new Set([...spoiled, ...failed.flatMap(({ artifacts }) => artifacts ?? [])]);
		const wasHarmed =
			wasKilled || spoiled.size > 0 || faults.length > 0 || "kill a wrapper" in acts || "kill a worker" in acts;
		const sessionId = /_([\w-]+)\.jsonl$/.exec(this.#session)?.[1] ?? "";
		const hasFar = wasHarmed && [...plan.agents.values()].some(({ isRemote }) => isRemote);
		const lag = hasFar ? LAGS.farProcesses : undefined;
		const written = [...this.#model.written].map((key) => `${key}.txt`);
		return [
			...(await patiently(() => violationsOf(account, { spoiled: unwhole, wasKilled, hasLostEntries }))),
			...(await patiently(async () => {
				const news = await tolerantLinesOf(this.#at("bus.jsonl"));
				return unbalanced(news, account, "reload" in acts ? account.detached : new Set());
			})),
			...(await this.#wrongJobs()),
			...(wasKilled ? [] : await patiently(() => unsaid(faults, account, this.#notices()))),
			...(await leftProcesses(this.#it.env.root, this.#pi.rpc.pid, lag)),
			...(await this.#repository.leftovers({
				written,
				returned: remoteWrites(plan, account, this.#model.written),
				wasHarmed,
			})),
			...this.#model.wrongs,
			...(await patiently(() => workflowViolations(plan, account, unwhole))),
			...verifyViolations(plan, account.entries, await checksIn(this.#it.env)),
			...(wasHarmed ? [] : await patiently(() => leftThere(this.#it.env, account))),
			...(await this.#repository.changes()),
			...(isOnlyInMemory ? [] : await this.#differsAgain()),
			...(await lyingAbout(this.#it.env, { wasHarmed, sessionId, known: this.#lying })),
		];
	}

	/** Who reads what the session kept has the records that those had who saw it happen. */
	async #differsAgain(): Promise<string[]> {
		const { asked } = this.#model;
		const clock = { isClockSet: "set the clock" in this.#course.acts };
		const before = lasting(await this.#pi.records(), clock);
		await this.#pi.command("/again");
		const now = lasting(await this.#pi.records(), clock);
		// A job that was not waited for was due just now, and the session's model has let its agent go on.
		if (this.#model.asked > asked && (await this.#untilOver())) return this.#differsAgain();
		const lost = before.filter((record) => !now.includes(record));
		const others = now.filter((record) => !before.includes(record));
		return lost.map((record) => `After a reload there is not ${record}, but of others ${others.join(", ")}.`);
	}

	/** All that the user was told so far. */
	#notices(): readonly string[] {
		this.#course.notices.push(...this.#pi.answerDialogs());
		return this.#course.notices;
	}

	/** As it is now: pi may be another one after each act. */
	#stage(): Stage {
		return {
			env: this.#it.env,
			pi: this.#pi,
			session: this.#session,
			weather: this.#weather,
			course: this.#course,
			account: () => this.#account(),
			restart: (how) => this.#restart(how),
		};
	}

	async #restart({ isKill, spoil: chance }: { isKill: boolean; spoil?: number }): Promise<boolean> {
		await this.#pi.close({ isKill });
		await rm(this.#at("bus.jsonl"), { force: true });
		if (this.#course.isOnlyInMemory) await this.#weather.freeDisk(); // pi itself does not open a session that it cannot write
		if (chance !== undefined) await spoil(this.#stage(), chance);
		const course = this.#course;
		course.wasKilled = true;
		course.hasLostEntries ||= course.isOnlyInMemory;
		this.#gathering = new Gathering();
		this.#pi = new StormPi(this.#it.env, {
			args: existsSync(this.#session) ? ["--session", this.#session] : [],
			pi: this.#binary,
		});
		this.#session = await this.#pi.sessionFile();
		return true;
	}

	/** Until the model was asked so often, or will not be any more before somebody interferes. */
	async #untilAsked(count: number): Promise<void> {
		let last = -1;
		for (let quiet = 0; this.#model.asked < count && quiet < QUIET_MS; await delay(10)) {
			this.#notices();
			quiet = this.#model.asked === last ? quiet + 10 : 0;
			last = this.#model.asked;
		}
	}

	async #untilOver(): Promise<Account | undefined> {
		let asked = this.#model.asked;
		let lastAt = performance.now();
		while (performance.now() - lastAt < patienceMs(2)) {
			this.#notices();
			const account = await this.#account();
			await this.#reply(account);
			if (this.#model.asked > asked) lastAt = performance.now(); // it goes on
			asked = this.#model.asked;
			if (isOver(account) && (await this.#pi.isIdle()) && (await this.#jobsAreOver())) return account;
			await delay(20); // real time: between two looks
		}
		return undefined;
	}

	/** Those that were kept and are due have been launched, or are not to be waited for. */
	async #jobsAreOver(): Promise<boolean> {
		return (await this.#wrongJobs()).length === 0;
	}

	async #wrongJobs(): Promise<string[]> {
		return jobViolations(await tolerantLinesOf(this.#at("jobs.jsonl")), await this.#mayLackJobs());
	}

	async #mayLackJobs(): Promise<boolean> {
		const { acts, wasKilled, spoiled } = this.#course;
		if (wasKilled || spoiled.size > 0 || "kill a wrapper" in acts || "set the clock" in acts) return true;
		return (await this.#weather.faults()).length > 0;
	}

	/** What the session knows: from its file, or while that cannot be written, from pi's memory. */
	async #account(): Promise<Account> {
		if (!this.#course.isOnlyInMemory) return accountOf(await tolerantLinesOf(this.#session));
		return accountOf(await this.#pi.entries());
	}

	/** The turn in which the model would have answered may have been broken off; then the user does. */
	async #reply({ launched, settled }: Account): Promise<void> {
		if (this.#model.asked > this.#askedBefore) {
			this.#askedBefore = this.#model.asked;
			return; // all is on its way
		}
		if ([...launched.keys()].every((runId) => settled.has(runId))) return;
		for (const { id } of (await this.#pi.records()).filter(({ question }) => question !== undefined))
			await this.#pi.command(`/subagent reply ${id} go on`);
	}

	async #neverEnded(): Promise<string[]> {
		const { launched, settled, told, closed, stray } = await this.#account();
		const open = [...launched.values()].filter(
			({ runId, isBackground }) =>
				!stray.has(runId) && (!settled.has(runId) || (isBackground && !(told.has(runId) || closed.has(runId)))),
		);
		const live = (await this.#pi.records()).filter(
			({ status }) => !["completed", "failed", "aborted"].includes(String(status)),
		);
		return [
			...(await this.#wrongJobs()),
			...this.#notices()
				.slice(-10)
				.map((notice) => `(It had said: ${notice})`),
			...live.map((record) => `(Still there: ${JSON.stringify(record)})`),
			`It never ended: ${open.map(({ runId, isBackground }) => `${runId} ${isBackground ? "in the background" : "waited for"} ${settled.has(runId) ? "settled" : "not settled"}`).join(", ") || "pi stayed busy, or a job did not fire"}.`,
		];
	}

	#at(name: string): string {
		return join(this.#it.env.home, name);
	}
}
