/** What pi lends to us and our children, read anew for each launch: the user may switch models at any time. */
import { realpathSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import {
	type ExtensionAPI,
	type ExtensionContext,
	getAgentDir,
	ModelRuntime,
	ProjectTrustStore,
} from "@earendil-works/pi-coding-agent";
import type { CwdFact, Facts, ParentFields } from "@pi-subagents/core";
import { type SessionHost, sessionTools } from "@pi-subagents/core/session";

export interface Host extends SessionHost {
	/** What is true now, for `resolveSpec`. `cwd` is what the caller asked for, if anything. */
	facts(ctx: ExtensionContext, cwd: string | undefined): Promise<Facts>;
	parent(ctx: ExtensionContext): ParentFields;
}

export function createHost(pi: ExtensionAPI): Host {
	const agentDir = getAgentDir();
	let session: ExtensionContext | undefined;
	pi.on("session_start", (_event, ctx) => {
		session = ctx;
	});
	return {
		agentDir,
		modelRuntime: () => modelRuntimeOf(session),
		isProjectTrusted: (cwd) => isTrusted(cwd, agentDir, session),
		facts: async (ctx, cwd) => ({
			models: ctx.modelRegistry.getAvailable().map(({ provider, id }) => ({ provider, id })),
			tools: sessionTools().map((name) => ({ name, isActive: pi.getActiveTools().includes(name) })),
			cwd: await cwdFact(ctx.cwd, cwd),
		}),
		parent: (ctx) => ({
			model: ctx.model && { provider: ctx.model.provider, id: ctx.model.id },
			thinking: pi.getThinkingLevel(),
		}),
	};
}

/** The registry's runtime is private, but it alone knows the providers and keys of this session. */
async function modelRuntimeOf(session: ExtensionContext | undefined): Promise<ModelRuntime> {
	if (!session) throw new Error("No pi session is open.");
	const registry = session.modelRegistry;
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

/** The session's own answer covers its directory; any other needs the user's stored yes. */
function isTrusted(cwd: string, agentDir: string, session: ExtensionContext | undefined): boolean {
	if (session && isWithin(cwd, realpathSync(session.cwd))) return session.isProjectTrusted();
	return new ProjectTrustStore(agentDir).get(cwd) === true;
}

function isWithin(path: string, directory: string): boolean {
	const way = relative(directory, path);
	return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

async function cwdFact(base: string, asked: string | undefined): Promise<CwdFact> {
	const isAsked = asked !== undefined;
	const wanted = resolve(base, asked ?? ".");
	try {
		const path = await realpath(wanted);
		return { path, kind: (await stat(path)).isDirectory() ? "directory" : "other", isAsked };
	} catch {
		return { path: wanted, kind: "missing", isAsked }; // the resolver says so, in words for the caller
	}
}
