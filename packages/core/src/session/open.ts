/** Makes the pi session that a child lives in, with a loader and settings of its own. */
import {
	type AgentSession,
	createAgentSession,
	DefaultResourceLoader,
	type ModelRuntime,
	SessionManager,
	SettingsManager,
} from "@earendil-works/pi-coding-agent";
import type { Report } from "../best-effort.ts";
import type { RunSpec } from "../runner.ts";

/** What the parent lends its children. */
export interface SessionHost {
	agentDir: string;
	/** The parent's own, so that providers registered by its extensions work in children. */
	modelRuntime: () => ModelRuntime | Promise<ModelRuntime>;
	/** Whether the user trusts the project in this directory. Settings of an untrusted one are not read. */
	isProjectTrusted: (cwd: string) => boolean;
	/** Hears of what went wrong beside a run. */
	report?: Report;
}

/** `isStopped` is asked after every step; once it says so, nothing more is set up and nothing is returned. */
export async function openSession(
	host: SessionHost,
	spec: RunSpec,
	isStopped: () => boolean,
): Promise<AgentSession | undefined> {
	const { agentDir } = host;
	const { cwd } = spec;
	const modelRuntime = await host.modelRuntime();
	if (isStopped()) return undefined;
	const model = findModel(modelRuntime, spec.model);
	// pi would trust every project if it were not told.
	const settingsManager = SettingsManager.create(cwd, agentDir, { projectTrusted: host.isProjectTrusted(cwd) });
	// Sharing the parent's loader would rebind the parent's extensions to the child, and pi's default one loads us again.
	const resourceLoader = new DefaultResourceLoader({
		cwd,
		agentDir,
		settingsManager,
		noExtensions: true,
		noThemes: true,
		noPromptTemplates: true,
		...promptOptions(spec),
	});
	await resourceLoader.reload();
	if (isStopped()) return undefined;
	const { session } = await createAgentSession({
		cwd,
		agentDir,
		settingsManager,
		resourceLoader,
		modelRuntime,
		model,
		...(spec.thinking === undefined ? {} : { thinkingLevel: spec.thinking }),
		tools: [...spec.tools],
		sessionManager: SessionManager.inMemory(cwd),
	});
	if (!isStopped()) return session;
	session.dispose();
	return undefined;
}

function findModel(runtime: ModelRuntime, name: string) {
	const slash = name.indexOf("/"); // ids may hold further slashes
	const model = runtime.getModel(name.slice(0, slash), name.slice(slash + 1));
	if (!model) throw new Error(`Model ${name} is not available.`);
	return model;
}

function promptOptions({ systemPrompt }: RunSpec) {
	if (!systemPrompt || systemPrompt.text.trim() === "") return {};
	return systemPrompt.mode === "replace"
		? { systemPrompt: systemPrompt.text }
		: { appendSystemPrompt: [systemPrompt.text] };
}
