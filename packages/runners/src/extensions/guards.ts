/**
 * Which of the user's extensions guard every agent: those that the running pi loaded and that judge tool calls or
 * replace one of pi's own tools, and those that the user names. Decided for each run from the session and the user's
 * own settings, never from a preset, a call or a file of a run.
 */
import { realpathSync } from "node:fs";
import { type Args, type ExtensionContext, parseArgs } from "@earendil-works/pi-coding-agent";
import type { ReplacedTools, RunSpec } from "@pi-subagents/core";
import { AgentError } from "@pi-subagents/core";
import { defined, quoted } from "@pi-subagents/core/internal/base";
import { isWithin } from "@pi-subagents/core/internal/files";
import { filesOf, type LoadedExtension, loadedExtensions } from "./loaded.ts";
import { ExtensionModules } from "./modules.ts";
import { isCalled } from "./names.ts";
import { loadFailure, type Role, Roles, roleOf } from "./roles.ts";
import { runningExtensions } from "./running.ts";
import type { SessionView } from "./session-view.ts";

/** What the user decides about guards. `exempt`: never guards. `also`: guards, too. Names or paths of extensions. */
export type GuardRule = "on" | "off" | { exempt?: readonly string[]; also?: readonly string[] };

/** An extension that guards agents. */
export interface Guard extends LoadedExtension {
	/** pi's own tools that it replaces. */
	replaces: readonly string[];
	/** It decides about tool calls. */
	judgesCalls: boolean;
}

/** What the user may want to know about guards. */
export interface GuardReport {
	guards: readonly Guard[];
	/** Extensions that the user's settings exempt. */
	exempt: readonly LoadedExtension[];
	isOff: boolean;
	/** How many extensions pi has loaded besides ours. */
	loaded: number;
}

/** What guards keep of the user's session, such as a mode that the user switched on. */
export interface GuardState {
	/** Whether any guard holds. */
	isGuarded: boolean;
	/** Options on pi's command line, by name, as the guards declare them. */
	flags: Readonly<Record<string, string | true>>;
	/** The session's entries of extensions, oldest first. */
	entries: readonly { customType: string; data: unknown }[];
}

export interface Guards {
	/** Those that hold now. Rejects, so that nothing is launched, if one is missing or does not load. */
	find(): Promise<readonly Guard[]>;
	/** For people. Rejects as `find` does. */
	report(): Promise<GuardReport>;
	/** The built-in tools that they replace, for the resolver. Rejects as `find` does. */
	replacedTools(): Promise<ReplacedTools | undefined>;
	/** What they keep of the session. Empty without guards. */
	state(): Promise<GuardState>;
	/** Throws if a child in this process would use a tool that a guard replaces in another directory than its own. */
	assertWorksIn(guards: readonly Guard[], spec: Pick<RunSpec, "cwd" | "tools">): void;
	/** Their modules, for children in this process. */
	modules: ExtensionModules;
	/** The directory that the session's own extensions were loaded for. */
	cwd(): string;
	/** How they see a child. Undefined if it works where the session does. */
	viewOf(spec: Pick<RunSpec, "cwd" | "confinedTo">): SessionView | undefined;
	/** Another session begins, with its own extensions. */
	forget(): void;
}

type GuardedSession = Pick<ExtensionContext, "cwd" | "sessionManager"> & Partial<Pick<ExtensionContext, "hasUI">>;

interface GuardsOptions {
	agentDir: string;
	/** The session whose extensions count. */
	session: () => GuardedSession | undefined;
	/** Whether the user trusts the project in this directory. */
	isProjectTrusted: (cwd: string) => boolean;
	/** The user's own setting, as it is now. */
	rule: () => GuardRule;
	/** Whether this is one of our extensions; those with our package names are known. */
	isOwnExtension?: (path: string) => boolean;
	/** Whether entries of this type are our own, which mean nothing to guards. */
	isOwnEntry?: (customType: string) => boolean;
	/** pi's arguments. Those of this process when absent, if it is pi. */
	argv?: readonly string[];
	/** The directory of this process, if it is another one. */
	worksIn?: string;
}

/** So much of a session is copied into each child, the newest first. */
const MAX_ENTRIES = 2_000;
const MAX_ENTRY_CHARACTERS = 4_000_000;

/**
 * @example
 * ```ts
 * const guards = createGuards({ ...host, rule: () => launcher.latest().guards });
 * const runner = sessionRunner({ ...host, guards });
 * ```
 */
export function createGuards(options: GuardsOptions): Guards {
	const { agentDir, session, isProjectTrusted, rule, isOwnExtension, isOwnEntry = () => false } = options;
	const args = parseArgs([...(options.argv ?? ownArguments())]);
	const modules = new ExtensionModules();
	const roles = new Roles(modules);
	/** What pi loaded does not change while its session is open, whatever happens to the files. */
	let loaded: Promise<LoadedExtension[]> | undefined;
	const cwd = () => session()?.cwd ?? process.cwd();
	const worksIn = () => realpathSync.native(options.worksIn ?? process.cwd());
	const listed = () => {
		loaded ??= loadedExtensions(
			{ cwd: cwd(), agentDir, isTrusted: isProjectTrusted(cwd()), isOwnExtension },
			{ given: args.extensions ?? [], onlyGiven: args.noExtensions === true },
		);
		loaded.catch(() => {
			loaded = undefined;
		});
		return loaded;
	};
	/** What pi has loaded, and how to learn what each does. Nothing is run for it if pi can be asked. */
	const list = async (): Promise<[LoadedExtension, () => Promise<Role>][]> => {
		const current = session();
		const running = current && runningExtensions(current);
		if (running)
			return filesOf(running, isOwnExtension).map(([each, registered]) => [
				each,
				async () => roleOf(each.names, registered),
			]);
		return (await listed()).map((each) => [each, () => roles.of(each, cwd())]);
	};
	const withRoles = async (): Promise<[Guard, Role][]> => {
		const current = rule();
		if (current === "off") return [];
		const { exempt = [], also = [] } = current === "on" ? {} : current;
		const all = await list();
		const extensions = all.map(([extension]) => extension);
		const named = also.map((name) => wanted(name, extensions));
		const found: [Guard, Role][] = [];
		for (const [extension, learnRole] of all) {
			const isNamed = named.includes(extension);
			if (!isNamed && exempt.some((name) => isCalled(extension, name))) continue;
			const role = await learnRole().catch((error: unknown) => {
				throw new AgentError("refused", loadFailure(extension, error));
			});
			if (isNamed && role.launchesAgents) throw new AgentError("refused", notAGuard(extension));
			if (isNamed || (!role.launchesAgents && (role.judgesCalls || role.replaces.length > 0)))
				found.push([{ ...extension, replaces: role.replaces, judgesCalls: role.judgesCalls }, role]);
		}
		return found;
	};
	return {
		modules,
		cwd,
		viewOf: ({ cwd: works, confinedTo }) => {
			const session = cwd();
			const [realSession, real] = [realpathSync.native(session), realpathSync.native(works)];
			const copy =
				confinedTo && isWithin(real, realpathSync.native(confinedTo.root))
					? { root: realpathSync.native(confinedTo.root), origin: confinedTo.origin }
					: undefined;
			return real === realSession && !copy ? undefined : { session, realSession, cwd: real, ...defined({ copy }) };
		},
		find: async () => (await withRoles()).map(([guard]) => guard),
		async report() {
			const current = rule();
			const all = (await list()).map(([extension]) => extension);
			const guards = (await withRoles()).map(([guard]) => guard);
			const names = typeof current === "string" ? [] : (current.exempt ?? []);
			const isGuard = new Set(guards.map(({ path }) => path));
			const exempt = all.filter((each) => !isGuard.has(each.path) && names.some((name) => isCalled(each, name)));
			return { guards, exempt, isOff: current === "off", loaded: all.length };
		},
		async replacedTools() {
			const replacing = (await withRoles()).filter(([{ replaces }]) => replaces.length > 0);
			if (replacing.length === 0) return undefined;
			const byGuard = Object.fromEntries(replacing.map(([{ path, names, replaces }]) => [names[0] ?? path, replaces]));
			return { worksIn: worksIn(), byGuard };
		},
		assertWorksIn(guards, spec) {
			const guard = guards.find(({ replaces }) => replaces.some((name) => spec.tools.includes(name)));
			if (guard && realpathSync.native(spec.cwd) !== worksIn())
				throw new AgentError("refused", worksElsewhere(guard, spec));
		},
		async state() {
			const found = await withRoles();
			if (found.length === 0) return { isGuarded: false, flags: {}, entries: [] };
			return {
				isGuarded: true,
				flags: Object.assign({}, ...found.map(([, { flags }]) => flagsOf(flags, args))),
				entries: entriesOf(session(), isOwnEntry),
			};
		},
		forget() {
			loaded = undefined;
			modules.forget();
		},
	};
}

/** Whether the user switched off all extensions that are not given on pi's command line. */
export function loadsOnlyGiven(): boolean {
	return parseArgs([...ownArguments()]).noExtensions === true;
}

/** A program that embeds pi has arguments of its own, which mean something else. */
function ownArguments(): readonly string[] {
	return process.env.PI_CODING_AGENT === "true" ? process.argv.slice(2) : [];
}

function wanted(name: string, all: readonly LoadedExtension[]): LoadedExtension {
	const found = all.find((extension) => isCalled(extension, name));
	if (found) return found;
	const names = all.map((extension) => extension.names[0]).join(", ") || "none";
	throw new AgentError(
		"refused",
		`Your setting \`guards\` names ${quoted(name)}, which pi has not loaded (there is: ${names}), so no agent is launched. Install it, or remove it from \`guards.also\`.`,
	);
}

function worksElsewhere({ names, replaces }: Guard, { cwd }: Pick<RunSpec, "cwd">): string {
	return `${names[0]} guards agents and replaces ${replaces.join(", ")}, which works only in the directory of its process; this agent works in ${cwd}. Launch it in its own process (\`runner: process\`).`;
}

function notAGuard({ names }: LoadedExtension): string {
	return `Your setting \`guards\` names ${quoted(names[0] ?? "")}, which launches agents itself and is never loaded into one. Remove it from \`guards.also\`.`;
}

/** As pi reads them. */
function flagsOf(declared: Role["flags"], { unknownFlags }: Args): Record<string, string | true> {
	return Object.fromEntries(
		[...declared].flatMap(([name, type]): [string, string | true][] => {
			const value = unknownFlags.get(name);
			if (value === undefined) return [];
			if (type === "boolean") return [[name, true]];
			return typeof value === "string" ? [[name, value]] : [];
		}),
	);
}

function entriesOf(
	session: Pick<ExtensionContext, "sessionManager"> | undefined,
	isOwn: (customType: string) => boolean,
): GuardState["entries"] {
	const kept: { customType: string; data: unknown }[] = [];
	let characters = 0;
	for (const entry of session?.sessionManager.getBranch().toReversed() ?? []) {
		if (entry.type !== "custom" || isOwn(entry.customType)) continue;
		const text = JSON.stringify(entry.data ?? null);
		characters += text.length;
		if (kept.length >= MAX_ENTRIES || characters > MAX_ENTRY_CHARACTERS) break;
		kept.push({ customType: entry.customType, data: JSON.parse(text) });
	}
	return kept.reverse();
}
