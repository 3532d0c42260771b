/** The workflows of a session: started, resumed, paused, and what is known about them, live or from their journals. */
import { dirname } from "node:path";
import {
	AgentError,
	type AgentRecord,
	findCandidate,
	type LaunchedBy,
	type Manager,
	modelName,
	type Runner,
	type RunSpec,
} from "@pi-subagents/core";
import { defined, nameKey, quoted } from "@pi-subagents/core/internal/base";
import type { LaunchEnvironment, Launcher, LaunchParams, LaunchSession, SessionContext } from "@pi-subagents/launch";
import { lookOf } from "@pi-subagents/progress";
import { prepareRunsDir } from "@pi-subagents/runs";
import type { WorkflowRun } from "../engine/ports.ts";
import type { JournalEvent } from "../journal/events.ts";
import { fileJournal, journalPath } from "../journal/file.ts";
import { type CallState, type WorkflowState, workflowState } from "../journal/state.ts";
import type { Meta } from "../script/meta.ts";
import { checkScript } from "../script/script.ts";
import { agentPort } from "./agent-port.ts";
import { guideText } from "./guide.ts";
import { ORDER, type Order, type WorkflowSpec, workflowRunner } from "./runner.ts";
import { findSaved, type SavedPlaces, type SavedWorkflows, savedWorkflows, scriptAt } from "./saved.ts";

export interface WorkflowHost<Context extends SessionContext>
	extends Pick<LaunchEnvironment, "agentDir" | "storedTrust" | "packageManifests" | "warn">,
		Pick<LaunchSession<Context>, "parent"> {
	/** The session that is open now. */
	session(): Context | undefined;
	parentSessionId?(): string | undefined;
	/** Where the conversations of its agents are. */
	sessionDir?(): string | undefined;
}

export interface WorkflowsDeps<Context extends SessionContext> {
	manager: Manager;
	launcher: Launcher<Context>;
	host: WorkflowHost<Context>;
	/** Writes what is queued for the files of runs. */
	flushLogs?: () => Promise<void>;
	/** Hears of every event, for other extensions. */
	publish?: (event: JournalEvent, state: WorkflowState, id: string) => void;
}

/** What to run: one of the first three. */
export interface WorkflowCall {
	script?: string | undefined;
	path?: string | undefined;
	name?: string | undefined;
	args?: unknown;
}

export interface StartOptions {
	isBackground: boolean;
	launchedBy: LaunchedBy;
	/** The tool call that asked for it. */
	callId?: string;
}

export interface Workflows<Context extends SessionContext> {
	readonly runner: Runner;
	saved(ctx: Context): Promise<SavedWorkflows>;
	/** What a model reads before it writes a script. */
	guide(ctx: Context): Promise<string>;
	/** What a manager runs it with. A script that cannot be run is an error. A trial is not run. */
	prepare(call: WorkflowCall, ctx: Context, more?: { description?: string; isTrial?: boolean }): Promise<RunSpec>;
	start(call: WorkflowCall, ctx: Context, options: StartOptions): Promise<AgentRecord>;
	/** Continues one that is paused, was stopped or failed; with another script if the call names one. */
	resume(wanted: string | undefined, call: WorkflowCall, ctx: Context, options: StartOptions): Promise<AgentRecord>;
	/** The records of this session's workflows, in launch order. */
	list(): AgentRecord[];
	find(wanted: string | undefined): AgentRecord;
	/** Undefined if its journal is gone. */
	state(record: AgentRecord): WorkflowState | undefined;
	pause(record: AgentRecord): void;
	/** Lets one that is paused launch agents again. */
	continue(record: AgentRecord): void;
	/** Gives a call null, or runs it again. `which` is an agent, a label or a path; the only open call if absent. */
	decide(record: AgentRecord, what: "skip" | "retry", which: string | undefined): CallState;
}

const MAX_ARGS = 256 * 1024;

/** A script names commands as its author does. One that the model wrote, or a job started, as a call of the model does. */
const NAMES_COMMANDS: Record<LaunchedBy, LaunchParams["verifyBy"]> = {
	user: "user",
	rpc: "extension",
	model: undefined,
	schedule: undefined,
};

export function createWorkflows<Context extends SessionContext>(deps: WorkflowsDeps<Context>): Workflows<Context> {
	const { manager, launcher, host, flushLogs, publish = () => undefined } = deps;
	const live = new Map<string, WorkflowRun>();
	const session = (): Context => {
		const ctx = host.session();
		if (!ctx) throw new AgentError("shut_down", "The session is ending; no more agents can be launched.");
		return ctx;
	};
	const placesOf = ({ cwd }: Context): SavedPlaces => ({
		cwd,
		agentDir: host.agentDir,
		trust: host.storedTrust(cwd),
		manifests: host.packageManifests(cwd),
	});
	const load = async (name: string) => (await findSaved(name, placesOf(session()))).source;
	const authorOf = ({ agentId, [ORDER]: order }: WorkflowSpec & { agentId: string }): LaunchedBy =>
		order?.author ?? manager.store.record(agentId)?.launchedBy ?? "model";
	const portsFor = (spec: WorkflowSpec & { agentId: string }) => {
		const { depth = 1, isBackground = true } = manager.store.record(spec.agentId) ?? {};
		const verifyBy = NAMES_COMMANDS[authorOf(spec)];
		let asking: Promise<unknown> = Promise.resolve(); // one question at a time
		return {
			agent: agentPort({
				manager,
				resolve: async (params) => {
					const named = params.isVerifyKept ? {} : { verifyBy };
					return (await launcher.resolve({ ...params, ...named }, session())).spec;
				},
				places: {
					agentDir: host.agentDir,
					runsDir: spec.runsDir ?? "",
					sessionDir: host.sessionDir?.(),
					sessionId: host.parentSessionId?.(),
				},
				...defined({ flushLogs }),
				placing: { parentAgentId: spec.agentId, depth: depth + 1, isBackground },
			}),
			async ask({ question, default: fallback }: { question: string; default?: string }, signal: AbortSignal) {
				const asked = { question, isForUser: true, ...defined({ defaultAnswer: fallback }) };
				const answering = asking.then(() => manager.ask(spec.agentId, asked, signal));
				asking = answering.catch(() => undefined);
				const answer = await answering;
				return answer.by === "nobody" ? undefined : answer.text;
			},
			load,
		};
	};
	const runner = workflowRunner({
		live,
		portsFor,
		authorOf,
		warn: host.warn,
		// The call that waited for it ends with the process, so what becomes of it is for the opened session to say.
		onLeft(id) {
			const { isBackground, parentAgentId } = manager.store.record(id) ?? {};
			if (isBackground === false && parentAgentId === undefined) manager.moveToBackground(id);
		},
		onEvent(event, state, id) {
			if (event.type === "diverged")
				host.warn(
					`Workflow ${id}: the script has changed. The journal holds "${event.recorded}" where it now calls "${event.called}"; matching calls are replayed.`,
				);
			publish(event, state, id);
		},
	});

	const sourceOf = async ({ script, path, name }: WorkflowCall, ctx: Context): Promise<string | undefined> => {
		const given = [script, path, name].filter((each) => each !== undefined && each !== "");
		if (given.length > 1) throw new AgentError("bad_request", "Give one of `script`, `path` and `name`.");
		if (script) return script;
		if (path) return scriptAt(path, placesOf(ctx));
		return name ? (await findSaved(name, placesOf(ctx))).source : undefined;
	};
	/** Throws if it launches something while the settings cannot be understood. */
	const specOf = async (
		meta: Meta,
		order: Order,
		ctx: Context,
		{ launches, runsDir }: { launches: boolean; runsDir?: string },
	): Promise<WorkflowSpec> => {
		const settings = await (launches ? launcher.launchSettings(ctx) : launcher.settings(ctx));
		const { model } = host.parent(ctx);
		const budget = settings.workflows.budgetTokens;
		const runs = runsDir === undefined ? await prepareRunsDir(await rootOf(launcher, ctx)) : { dir: runsDir };
		return {
			type: "workflow",
			description: meta.name,
			task: meta.description,
			cwd: ctx.cwd,
			runner: "workflow",
			model: model ? modelName(model) : "none/none",
			tools: [],
			runsDir: runs.dir,
			limits: {},
			origins: {},
			warnings: [],
			[ORDER]: { ...order, ...(budget > 0 ? { budget } : {}) },
		};
	};
	const journalOf = ({ id, artifacts }: AgentRecord) => {
		if (artifacts === undefined) throw new AgentError("wrong_state", `Workflow ${id} kept no files.`);
		return fileJournal(journalPath(dirname(artifacts), id), host.warn);
	};
	const list = () => manager.store.snapshot().records.filter(isWorkflow);
	const find = (wanted: string | undefined) =>
		findCandidate(list(), wanted, { is: isWorkflow, none: "No workflow was started in this session." });
	const state = (record: AgentRecord): WorkflowState | undefined => {
		const known = live.get(record.id)?.state ?? workflowState(journalOf(record).read());
		return known.started ? known : undefined;
	};
	const liveOf = (record: AgentRecord): WorkflowRun => {
		const run = live.get(record.id);
		if (!run)
			throw new AgentError("wrong_state", `Workflow ${record.id} is not running: it is ${lookOf(record.status).word}.`);
		return run;
	};

	const prepare: Workflows<Context>["prepare"] = async (call, ctx, { isTrial = false, ...more } = {}) => {
		const source = await sourceOf(call, ctx);
		if (source === undefined) throw new AgentError("bad_request", "Give one of `script`, `path` and `name`.");
		const { meta } = checkScript(source);
		const spec = await specOf(meta, { script: source, args: argsOf(call.args) }, ctx, { launches: !isTrial });
		return { ...spec, ...more };
	};

	return {
		runner,
		prepare,
		list,
		find,
		state,
		saved: (ctx) => savedWorkflows(placesOf(ctx)),
		guide: async (ctx) =>
			guideText(await savedWorkflows(placesOf(ctx)), Object.keys((await launcher.settings(ctx)).machines)),
		start: async (call, ctx, options) => manager.spawn(await prepare(call, ctx), options),
		async resume(wanted, call, ctx, options) {
			const isResumable = (record: AgentRecord) =>
				record.outcome !== undefined && record.outcome.status !== "completed";
			const record = findCandidate(list(), wanted, { is: isResumable, none: "No workflow is paused." });
			if (!record.outcome)
				throw new AgentError(
					"wrong_state",
					`Workflow ${record.id} is ${lookOf(record.status).word}: there is nothing to resume.`,
				);
			const known = state(record);
			if (!known) throw new AgentError("wrong_state", `The journal of workflow ${record.id} is gone: start it again.`);
			const given = await sourceOf(call, ctx);
			const script = given ?? known.script;
			// Whoever resumes it has not written the script that is in the journal.
			const author = given === undefined ? (known.author ?? record.launchedBy) : options.launchedBy;
			// A process that ended right after the script did has left the result in the journal only: that is given again.
			if (record.outcome.status === "completed" && script === known.script)
				throw new AgentError("wrong_state", `Workflow ${record.id} has completed: there is nothing to resume.`);
			const { meta } = checkScript(script);
			// The result of one that had returned is only delivered.
			const launches = known.end?.status !== "completed" || script !== known.script;
			const spec = await specOf(meta, { script, ...defined({ author }) }, ctx, {
				launches,
				runsDir: dirname(record.artifacts ?? ""),
			});
			return manager.resume(record.id, spec, options);
		},
		pause: (record) => liveOf(record).pause(),
		continue: (record) => liveOf(record).continue(),
		decide(record, what, which) {
			const known = state(record);
			const call = known && callNamed(known, which);
			if (!call)
				throw new AgentError(
					"bad_request",
					`Say which call to ${what}: an agent, a label or a path. /workflow show ${record.id} lists them.`,
				);
			const run = live.get(record.id);
			if (run) {
				if (!(what === "skip" ? run.skip(call.path) : run.retry(call.path)))
					throw new AgentError(
						"wrong_state",
						`${quoted(call.label)} has its answer. Stop the workflow, ${what} it, then resume.`,
					);
				return call;
			}
			const journal = journalOf(record);
			journal.read(); // so that a torn last line is noticed
			const skipped = { ok: false as const, status: "skipped" as const, error: "It was skipped." };
			const at = Date.now();
			journal.append(
				what === "retry"
					? { type: "retried", path: call.path, at }
					: { type: "answered", path: call.path, answer: skipped, tokens: 0, at },
			);
			journal.close();
			return call;
		},
	};
}

/** Whether a record is that of a workflow. */
function isWorkflow({ runner }: AgentRecord): boolean {
	return runner === "workflow";
}

function callNamed({ calls }: WorkflowState, which: string | undefined): CallState | undefined {
	const all = [...calls.values()];
	if (which !== undefined && which !== "") {
		const key = nameKey(which);
		return all.findLast(({ path, agentId, label }) => path === which || agentId === which || nameKey(label) === key);
	}
	const [only, ...others] = all.filter(({ answer }) => !answer);
	return others.length === 0 ? only : undefined;
}

/** A model may pass JSON as a text. */
function argsOf(args: unknown): unknown {
	const json = JSON.stringify(args ?? null);
	if (json.length > MAX_ARGS)
		throw new AgentError("bad_request", `\`args\` are too long: at most ${MAX_ARGS} characters.`);
	if (typeof args !== "string" || !/^\s*[[{]/.test(args)) return args ?? null;
	try {
		return JSON.parse(args);
	} catch {
		return args; // it only looked like JSON
	}
}

async function rootOf<Context extends SessionContext>(launcher: Launcher<Context>, ctx: Context): Promise<string> {
	const runs = await launcher.placeFor("runs", ctx);
	return runs === undefined ? ctx.cwd : dirname(dirname(dirname(runs)));
}
