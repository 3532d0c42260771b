/** Runs agents on other machines: sends the order, mirrors the run's directory, and takes the agent's commits back. */
import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	AgentError,
	type Clock,
	type Outcome,
	type Report,
	type RunIdentity,
	type Runner,
	type RunSpec,
	runIdOf,
	systemClock,
} from "@pi-subagents/core";
import { defined, isObject, parseJson, quoted } from "@pi-subagents/core/internal/base";
import { createFile, createWhole, jsonText, readPlain } from "@pi-subagents/core/internal/files";
import type { WorktreeReport } from "@pi-subagents/progress";
import {
	type DetachedLauncher,
	type DetachedRunnerOptions,
	describeRun,
	detachedRunner,
	type LaunchLookups,
	type StartedWrapper,
} from "@pi-subagents/runners/detached";
import { checkedResult, parseResult, proveResult, RUN_FILES } from "@pi-subagents/runs";
import { type NearRepositoryOptions, prepareRepository, type Sent, takeBack } from "../git/near-repository.ts";
import type { Link, Piece } from "../link/link.ts";
import { buildOrder, travelling } from "../link/order.ts";
import { quotable, saidBy } from "../link/words.ts";
import { type IntakeLimits, MAX_WORK_BYTES } from "./intake.ts";
import { type Finished, Mirror } from "./mirror.ts";
import { keepFirst, mayRunAgain, setAside, wasRunAgain } from "./retry.ts";

export interface RemoteRunnerOptions extends DetachedRunnerOptions, Omit<NearRepositoryOptions, "allows"> {
	/** The link to a machine; undefined if no machine has this name. */
	linkTo: (machine: string) => Link | undefined;
	/** Whether the user trusts the project in this directory. */
	isProjectTrusted: (cwd: string) => boolean;
	/** The conversation that a run starts with. Default: none, so agents can neither inherit one nor be resumed. */
	conversation?: LaunchLookups["conversation"];
	/** Which of the repository's own settings git may use. Default: none. */
	allows?: NearRepositoryOptions["allows"];
	/** How much is taken from a machine for one run. Default: 2 GB in all, and 1 GB of commits. */
	limits?: RemoteLimits;
}

export interface RemoteLimits extends IntakeLimits {
	/** The agent's commits, as a bundle. */
	work: number;
}

/** In the run's directory: what another process needs to rejoin it. */
interface RemoteFile {
	format: 1;
	machine: string;
	key: string;
	/** Absent if no repository was sent. */
	sent?: Sent;
}

/**
 * Its runs continue when this process ends, as those of the process runner do.
 *
 * @example
 * ```ts
 * const machines = createMachines(() => ({ box: { ssh: "me@box" } }), { agentDir });
 * const remote = remoteRunner({ agentDir, linkTo: machines.linkTo, isProjectTrusted: () => false });
 * const manager = new Manager({ runners: { remote }, clock: systemClock, newId });
 * ```
 */
export function remoteRunner(options: RemoteRunnerOptions): RemoteRunner {
	const { clock = systemClock, report = () => undefined } = options;
	const near = new Near({ ...options, clock, report });
	const launcher: RemoteLauncher = {
		launch: (spec, dir, signal) => near.launch(spec, dir, signal),
		rejoin: (spec, dir) => near.rejoin(spec, dir),
		startOver: (spec, dir, outcome) => near.startOver(spec, dir, outcome),
	};
	return { ...detachedRunner(options, launcher), ...launcher };
}

/** Also a launcher for `detachedRunner` of `@pi-subagents/runners/detached`, where this package is loaded on first use. */
export type RemoteRunner = Runner & RemoteLauncher;

/** Its processes are on another machine: whatever that says, none here is signalled. */
type RemoteLauncher = Required<Omit<DetachedLauncher, "processesOf">>;

type NearOptions = RemoteRunnerOptions & { clock: Clock; report: Report };

class Near {
	readonly #options: NearOptions;
	/** The directories of runs of which nothing is alive on their machine. */
	readonly #over = new Set<string>();
	/** The runs that were launched a second time: those without kept files cannot tell. */
	readonly #again = new Set<string>();

	constructor(options: NearOptions) {
		this.#options = options;
	}

	link({ machine = "local" }: RunSpec): Link {
		const link = this.#options.linkTo(machine);
		if (link) return link;
		throw new AgentError(
			"bad_request",
			`No machine is called ${quoted(machine)}. Define it in your settings (\`machines\`).`,
		);
	}

	async launch(spec: RunSpec & RunIdentity, dir: string, signal: AbortSignal): Promise<StartedWrapper | undefined> {
		const { agentDir, clock, isProjectTrusted, parentSessionId, ui } = this.#options;
		const { machine = "local", cwd } = spec;
		const link = this.link(spec);
		const key = `${runIdOf(spec)}-${randomBytes(6).toString("hex")}`;
		await keepFirst(dir);
		await describeRun({ agentDir, clock, ...defined({ parentSessionId }) }, { ...spec, machine }, dir);
		const prepared = await prepareRepository(spec, key, this.#repository(), signal);
		const file: RemoteFile = { format: 1, machine, key, ...defined({ sent: prepared?.sent }) };
		await createWhole(join(dir, RUN_FILES.remote), jsonText(file));
		const aliases = aliasesOf(cwd, prepared && { main: prepared.sent.main, inside: prepared.repository.inside });
		const conversation = await this.#conversation(spec, dir, aliases, key, link);
		const order = buildOrder(spec, {
			key,
			isTrusted: isProjectTrusted(cwd),
			hasUser: ui?.canAnswer(),
			aliases,
			...defined({ conversation: conversation?.id, repository: prepared?.repository }),
		});
		const withdrawals = [prepared?.offer(link.blobs), conversation?.withdraw];
		try {
			if (signal.aborted) return undefined;
			await submitted(link, order, signal);
		} catch (error) {
			if (signal.aborted) {
				// The order may have arrived after all.
				void link.control(key, { type: "kill" }).catch(() => undefined);
				return undefined;
			}
			throw error;
		} finally {
			for (const withdraw of withdrawals) withdraw?.();
		}
		return this.#mirror(spec, dir, file, link);
	}

	async rejoin(spec: RunSpec & RunIdentity, dir: string): Promise<StartedWrapper> {
		const file = await readRemoteFile(dir, spec);
		if (!file) throw new Error(`The agent cannot be rejoined: ${RUN_FILES.remote} in ${dir} is missing or broken.`);
		return this.#mirror(spec, dir, file, this.link(spec));
	}

	/** See `Run.startOver`. */
	async startOver(spec: RunSpec & RunIdentity, dir: string, outcome: Outcome): Promise<boolean> {
		const isOver = this.#over.delete(dir);
		if (!mayRunAgain({ spec, outcome, isOver, wasRunAgain: await this.#wasRunAgain(spec, dir) })) return false;
		this.#again.add(runIdOf(spec));
		if (spec.artifacts !== undefined) await setAside(dir);
		const { machine = "local" } = spec;
		this.#options.report(`Agent ${spec.agentId} was lost on ${machine}, and starts again from the beginning.`);
		return true;
	}

	async #wasRunAgain(spec: RunIdentity, dir: string): Promise<boolean> {
		return this.#again.has(runIdOf(spec)) || (await wasRunAgain(dir));
	}

	#mirror(spec: RunSpec & RunIdentity, dir: string, file: RemoteFile, link: Link): Mirror {
		const { clock, report, limits } = this.#options;
		const finish = (piece: Piece & { type: "result" }, signal: AbortSignal) =>
			this.#finish(spec, dir, file, piece, link, signal);
		const onOver = () => void this.#over.add(dir);
		const its = { dir, key: file.key, machine: file.machine };
		return new Mirror({ ...its, link, finish, onOver, clock, report, ...defined({ limits }) });
	}

	/** What the other machine says about the run, with what was asked for, and what arrived here. */
	async #finish(
		spec: RunSpec & RunIdentity,
		dir: string,
		file: RemoteFile,
		piece: Piece & { type: "result" },
		link: Link,
		signal: AbortSignal,
	): Promise<Finished> {
		const { clock, agentDir } = this.#options;
		const told = parseResult(piece.text);
		if (told?.runId !== runIdOf(spec)) return { isAllHere: false };
		const result = await checkedResult(told, spec, "machine", clock);
		const { outcome } = result;
		const report = told.outcome.worktree;
		// The second attempt makes the branch. What the first one did stays there until it is old.
		const runsAgain =
			report && mayRunAgain({ spec, outcome, isOver: true, wasRunAgain: await this.#wasRunAgain(spec, dir) });
		const { worktree, isAllHere } =
			report && !runsAgain
				? await this.#takeBack(spec, file, report, piece, link, signal)
				: { worktree: undefined, isAllHere: !runsAgain };
		const text = jsonText({ ...result, outcome: { ...outcome, ...defined({ worktree }) } });
		if (spec.artifacts !== undefined) await proveResult({ agentDir, runDir: dir }, text);
		return { text, isAllHere };
	}

	/** Paths of the other machine's checkout mean nothing here: the report names the branch. */
	async #takeBack(
		spec: RunSpec & RunIdentity,
		{ machine, key, sent }: RemoteFile,
		report: WorktreeReport,
		{ work }: Piece & { type: "result" },
		link: Link,
		signal: AbortSignal,
	): Promise<{ worktree: WorktreeReport; isAllHere: boolean }> {
		const { branch, path } = report;
		const maxBytes = this.#options.limits?.work ?? MAX_WORK_BYTES;
		const fetch = (to: string) => link.blobs.fetch(key, work?.blob ?? "", to, { maxBytes, signal });
		const options = { ...this.#repository(), spec, machine };
		const problems = (report.problems ?? []).slice(0, MAX_PROBLEMS).map((each) => saidBy(machine, each));
		if (!sent || !work) {
			if (path !== undefined) problems.push(`Its files are on ${machine}, which says where: "${quotable(path)}"`);
			else if (branch !== undefined) problems.push(`Its commits are on ${machine} and could not be packed.`);
		}
		const worktree: WorktreeReport =
			sent && work
				? await takeBack({ ...options, sent, work, problems, fetch, signal })
				: { base: sent?.base ?? NO_COMMIT, ...NOTHING, ...(problems.length > 0 && { problems }) };
		return { worktree, isAllHere: path === undefined && (branch === undefined || worktree.branch !== undefined) };
	}

	#repository(): NearRepositoryOptions {
		const { agentDir, allows = () => [], sessionCwd, git } = this.#options;
		return { agentDir, allows, ...defined({ sessionCwd, git }) };
	}

	async #conversation(
		spec: RunSpec & RunIdentity,
		dir: string,
		aliases: readonly string[],
		key: string,
		link: Link,
	): Promise<{ id: string; withdraw: () => void } | undefined> {
		const content = await this.#options.conversation?.(dir, spec);
		if (content === undefined) return undefined;
		const text = travelling(typeof content === "string" ? content : Buffer.from(content).toString("utf8"), aliases);
		const id = `conversation-${key}`;
		const withdraw = link.blobs.offer(id, async () => {
			const path = join(await mkdtemp(join(tmpdir(), "pi-subagents-conversation-")), "conversation");
			await createFile(path, text);
			return path;
		});
		return { id, withdraw };
	}
}

/** Rejects as soon as the signal fires: connecting may take long. */
function submitted(link: Link, order: Parameters<Link["submit"]>[0], signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const stop = () => reject(signal.reason);
		signal.addEventListener("abort", stop, { once: true });
		link
			.submit(order, signal)
			.then(resolve, reject)
			.finally(() => signal.removeEventListener("abort", stop));
	});
}

/** The directory as it was given may be a link to the real one. */
function aliasesOf(cwd: string, repository: { main: string; inside: string } | undefined): string[] {
	if (!repository) return [cwd];
	const { main, inside } = repository;
	const given = inside !== "" && cwd.endsWith(`/${inside}`) ? cwd.slice(0, -inside.length - 1) : cwd;
	return [main, given];
}

const MAX_BYTES = 64 * 1024;
const MAX_PROBLEMS = 20;
const NOTHING = { files: 0, insertions: 0, deletions: 0 };
/** Of a run that began with an empty repository. */
const NO_COMMIT = "0".repeat(40);

/**
 * What is in the file was written by this machine, but anyone may have changed it since: the key must be one of this run,
 * since other runs would be ended and deleted by theirs, and the machine the one that the run was launched on.
 */
async function readRemoteFile(dir: string, spec: RunSpec & RunIdentity): Promise<RemoteFile | undefined> {
	const value = parseJson((await readPlain(join(dir, RUN_FILES.remote), MAX_BYTES))?.toString("utf8") ?? "");
	if (!isObject(value) || typeof value.key !== "string") return undefined;
	const { key, sent } = value;
	const { machine = "local" } = spec;
	const isOfRun = key.startsWith(`${runIdOf(spec)}-`) && /^[0-9a-f]{12}$/.test(key.slice(runIdOf(spec).length + 1));
	return isOfRun && value.machine === machine ? { format: 1, machine, key, ...(isSent(sent) && { sent }) } : undefined;
}

function isSent(value: unknown): value is Sent {
	if (!isObject(value)) return false;
	const { main, commonDir, base, isSnapshot } = value;
	const isCommit = typeof base === "string" && /^[0-9a-f]{40,64}$/.test(base);
	return typeof main === "string" && typeof commonDir === "string" && isCommit && typeof isSnapshot === "boolean";
}
