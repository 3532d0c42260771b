/** What pi gives us and our children, read again for each launch: the user may switch models at any time. */
import { lstatSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import {
	DefaultPackageManager,
	type ExtensionAPI,
	type ExtensionContext,
	getAgentDir,
	hasTrustRequiringProjectResources,
	ModelRuntime,
	ProjectTrustStore,
	SettingsManager,
	type Theme,
} from "@earendil-works/pi-coding-agent";
import { type CwdFact, type Facts, type RunSpec, splitModelName, type ToolFact } from "@pi-subagents/core";
import { codeOf, defined, isMissing } from "@pi-subagents/core/internal/base";
import { isWithin, readPlainSync } from "@pi-subagents/core/internal/files";
import { type LaunchHost, oncePerTurn, type StoredTrust } from "@pi-subagents/launch";
import { sanitize } from "@pi-subagents/progress";
import { type ProcessHost, requirePrograms } from "@pi-subagents/runners/process";
import {
	inheritConversation,
	mcpFacts,
	requireResources,
	runningExtensions,
	type SessionHost,
	sessionTools,
	toolExtension,
} from "@pi-subagents/runners/session";

export interface Host extends SessionHost, Omit<LaunchHost<ExtensionContext>, "agentDir" | "checkWorktree"> {
	/** Which extension provides a model, if one does. */
	extensionOfModel: NonNullable<ProcessHost["extensionOfModel"]>;
	/** The session that is open now, whose context can be used until the next await. */
	session(): ExtensionContext | undefined;
	/** The colours of the user's screen. Throws if no session is open. */
	theme(): Theme;
	/** Like `warn`, but while no session is open it is kept for the next one of this process: a reload, for one, ends agents. */
	warnLater(notice: string): void;
	/** Tells the user something that is good to know. */
	notify(notice: string): void;
}

export function createHost(pi: ExtensionAPI): Host {
	const agentDir = getAgentDir();
	const told = new Set<string>();
	const manifests = new Map<string, readonly string[]>();
	const extensions = new Map<string, readonly string[]>();
	let latest: ExtensionContext | undefined;
	let wasAsked = false;
	/** The one way to use the session's context after an await, in a timer or for an event of ours. */
	const open = () => (latest && isLive(latest) ? latest : undefined);
	pi.on("session_start", (_event, ctx) => {
		latest = ctx;
		wasAsked = hasTrustRequiringProjectResources(ctx.cwd);
		for (const notice of untold().splice(0)) warn(notice);
	});
	pi.on("session_shutdown", () => {
		latest = undefined; // every use of it would throw from now on
	});
	const storedTrust = oncePerTurn(trustReader(agentDir), (cwd) => cwd);
	/**
	 * The session's own answer covers its directory; any other needs the user's stored yes. Where nothing asked for trust
	 * when the session began, pi says yes without having asked: that covers nothing that lies deeper or came later.
	 */
	const isProjectTrusted = (cwd: string): boolean => {
		const session = open();
		return session && wasAsked && isWithin(cwd, realpathSync.native(session.cwd))
			? session.isProjectTrusted()
			: storedTrust(cwd) === "yes";
	};
	const warn = (text: string) => {
		const session = open();
		const notice = sanitize(text);
		if (told.has(notice) || !session) return;
		told.add(notice);
		if (session.hasUI) session.ui.notify(notice, "warning");
		else console.error(`pi-subagents: ${notice}`);
	};
	const host: Host = {
		agentDir,
		warn,
		warnLater: (notice) => {
			if (open()) warn(notice);
			else if (untold().length < MAX_UNTOLD) untold().push(notice);
		},
		notify: (notice) => {
			const session = open();
			if (session?.hasUI) session.ui.notify(sanitize(notice), "info");
		},
		report: warn,
		events: pi.events,
		parentSessionId: () => open()?.sessionManager.getSessionId(),
		sessionDir: () => {
			const session = open();
			return session && stateDir(agentDir, "sessions", session);
		},
		extensionOfModel: (model) => {
			const session = open();
			return session && extensionOfModel(pi, session, model);
		},
		session: open,
		runningExtensions: () => {
			const session = open();
			return session && runningExtensions(session);
		},
		theme: () => required(open()).ui.theme,
		storedTrust,
		isProjectTrusted,
		modelRuntime: () => modelRuntimeOf(open()),
		parent: (ctx) => ({
			model: ctx.model && { provider: ctx.model.provider, id: ctx.model.id },
			thinking: pi.getThinkingLevel(),
		}),
		facts: oncePerTurn(
			async (ctx: ExtensionContext, cwd?: string) => ({
				models: modelFacts(ctx),
				tools: toolFacts(pi, extensions),
				mcp: mcpFacts(pi),
				cwd: cwdFact(ctx.cwd, cwd),
				isProjectTrusted: storedTrust(ctx.cwd) === "yes",
			}),
			(ctx, cwd) => JSON.stringify([ctx.cwd, cwd]),
		),
		packageManifests(cwd) {
			const known = manifests.get(cwd) ?? manifestsOf(cwd, agentDir, isProjectTrusted(cwd));
			manifests.set(cwd, known);
			return known;
		},
		async requireResources(spec) {
			requirePrograms(spec);
			await requireResources(host, spec);
		},
		conversation,
	};
	return host;
}

/**
 * The conversation that a run begins with, as it is at this moment. `ctx` is that of the session that launches: for an
 * agent of an agent, the agent's own.
 */
export function conversation(
	spec: RunSpec,
	{ sessionManager, modelRegistry }: ExtensionContext,
): readonly unknown[] | undefined {
	if (!spec.inheritsContext) return undefined;
	const windows = [spec.model, ...(spec.fallbackModels ?? [])].flatMap((name) => {
		const { provider, id } = splitModelName(name);
		return modelRegistry.find(provider, id)?.contextWindow ?? [];
	});
	const { messages } = sessionManager.buildSessionProjection();
	return inheritConversation(messages, { contextWindow: Math.min(...windows) });
}

const UNTOLD = Symbol.for("pi-subagents:untold");
const MAX_UNTOLD = 20;

/** Global, because a reload loads this module again. */
function untold(): string[] {
	const shared = globalThis as { [UNTOLD]?: string[] };
	shared[UNTOLD] ??= [];
	return shared[UNTOLD];
}

/** What is kept for one session. Nothing for an id that is no plain name: pi did not give it, and it may lead anywhere. */
function stateDir(
	agentDir: string,
	kind: "open" | "schedules" | "sessions",
	{ sessionManager }: Pick<ExtensionContext, "sessionManager">,
): string | undefined {
	const sessionId = sessionManager.getSessionId();
	return /^\w([\w.-]*\w)?$/.test(sessionId) ? join(agentDir, "state", "subagents", kind, sessionId) : undefined;
}

/** Undefined for a session without a file, too: no process can open it again. */
export function reopenableDir(
	agentDir: string,
	kind: "open" | "schedules",
	session: Pick<ExtensionContext, "sessionManager"> | undefined,
): string | undefined {
	return session?.sessionManager.getSessionFile() ? stateDir(agentDir, kind, session) : undefined;
}

/** pi locks its trust file to read it, which takes longer than a launch; so it is read again only when it has changed. */
function trustReader(agentDir: string): (cwd: string) => StoredTrust {
	const known = new Map<string, StoredTrust>();
	let readAt = "";
	return (cwd) => {
		const file = statSync(join(agentDir, "trust.json"), { throwIfNoEntry: false });
		if (!file) return "unasked";
		const stamp = `${file.mtimeMs} ${file.size} ${file.ino}`;
		if (stamp !== readAt) known.clear();
		readAt = stamp;
		const answer = known.get(cwd) ?? trustOf(new ProjectTrustStore(agentDir).get(cwd));
		known.set(cwd, answer);
		return answer;
	};
}

const trustOf = (stored: boolean | null): StoredTrust => (stored === null ? "unasked" : stored ? "yes" : "no");

/**
 * pi makes every use of a context throw once its session was replaced or disposed of. A program that embeds pi, such as
 * another sub-agent extension that runs ours in its agents, may dispose of a session without having said that it ends.
 */
function isLive(ctx: ExtensionContext): boolean {
	try {
		void ctx.mode;
		return true;
	} catch {
		return false;
	}
}

function required(session: ExtensionContext | undefined): ExtensionContext {
	if (!session) throw new Error("No pi session is open.");
	return session;
}

/** The registry's runtime is private, but it alone knows the providers and keys of this session. */
async function modelRuntimeOf(session: ExtensionContext | undefined): Promise<ModelRuntime> {
	const registry = required(session).modelRegistry;
	const shared = (registry as unknown as { runtime?: ModelRuntime }).runtime;
	if (shared) return shared;
	const runtime = await ModelRuntime.create();
	for (const id of registry.getRegisteredProviderIds()) {
		const native = registry.getRegisteredNativeProvider(id);
		const config = registry.getRegisteredProviderConfig(id);
		if (native) runtime.registerNativeProvider(native);
		else if (config) runtime.registerProvider(id, config);
	}
	return runtime;
}

/** pi's own, and those of the user's extensions, which a child has if it loads the extension. `known` are their names by path. */
function toolFacts(pi: ExtensionAPI, known: Map<string, readonly string[]>): ToolFact[] {
	const active = new Set(pi.getActiveTools());
	const own = sessionTools().map((name) => ({ name, isActive: active.has(name) }));
	const all = pi.getAllTools();
	const toolsOf = (path: string) => all.filter(({ sourceInfo }) => sourceInfo.path === path).map(({ name }) => name);
	const others = all.flatMap(({ name, sourceInfo }): ToolFact[] => {
		const names = known.get(sourceInfo.path) ?? toolExtension(sourceInfo, toolsOf(sourceInfo.path));
		known.set(sourceInfo.path, names);
		const [extension, alias] = names;
		if (extension === undefined) return [];
		return [{ name, extension, ...defined({ alias }), path: sourceInfo.path, isActive: active.has(name) }];
	});
	return [...own, ...others];
}

/** A provider of pi's own extensions has its extension's name. Virtual models are listed under any provider. */
function extensionOfModel(pi: ExtensionAPI, { modelRegistry }: ExtensionContext, model: string) {
	const { provider, id } = splitModelName(model);
	const api: string | undefined = modelRegistry.find(provider, id)?.api;
	if (api !== "pi-virtual" && !modelRegistry.getRegisteredProviderIds().includes(provider)) return undefined;
	const builtin = `builtin:${provider}` as const;
	return pi.getCommands().some(({ sourceInfo }) => sourceInfo.path === builtin) ? builtin : "user";
}

function modelFacts({ modelRegistry, scopedModels }: ExtensionContext): Facts["models"] {
	const scope = new Set(scopedModels.map(({ model }) => `${model.provider}/${model.id}`));
	return modelRegistry.getAvailable().map(({ provider, id, name }) => {
		return scope.size === 0 ? { provider, id, name } : { provider, id, name, inScope: scope.has(`${provider}/${id}`) };
	});
}

/** pi locks its settings to read them, which takes longer than all the rest of a start; so first a look whether it is worth it. */
function manifestsOf(cwd: string, agentDir: string, projectTrusted: boolean): string[] {
	const files = [join(agentDir, "settings.json"), ...(projectTrusted ? [join(cwd, ".pi", "settings.json")] : [])];
	if (!files.some(mentionsPackages)) return [];
	const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted });
	const packages = new DefaultPackageManager({ cwd, agentDir, settingsManager }).listConfiguredPackages();
	const manifests = packages.flatMap(({ installedPath }) =>
		installedPath ? [join(installedPath, "package.json")] : [],
	);
	return manifests.filter(isEntry);
}

/** A package may be a single file, or a directory without a manifest. A link that leads nowhere is something to report. */
function isEntry(path: string): boolean {
	try {
		return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
	} catch (error) {
		return codeOf(error) !== "ENOTDIR";
	}
}

/** False if it is missing. One that cannot be read is left to pi, which says why. */
function mentionsPackages(settingsFile: string): boolean {
	try {
		return readPlainSync(settingsFile, MAX_SETTINGS_BYTES, { followsLinks: true }).includes('"packages"');
	} catch (error) {
		return !isMissing(error) && !["EINVAL", "EFBIG"].includes(codeOf(error) ?? "");
	}
}

const MAX_SETTINGS_BYTES = 16 * 1024 * 1024;

/** An absolute path is meant; a relative one that leads elsewhere, by dots or by a link, is a mistake or a trick. */
function cwdFact(base: string, asked: string | undefined): CwdFact {
	const isAsked = asked !== undefined;
	const wanted = resolve(base, asked ?? ".");
	try {
		const path = realpathSync.native(wanted);
		if (isAsked && !isAbsolute(asked) && !isWithin(path, realpathSync.native(base)))
			return { path, kind: "outside", isAsked };
		return { path, kind: statSync(path).isDirectory() ? "directory" : "other", isAsked };
	} catch {
		return { path: wanted, kind: "missing", isAsked }; // the resolver says so, in words for the caller
	}
}
