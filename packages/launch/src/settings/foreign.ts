/**
 * Settings by the names that other sub-agent extensions gave them. Those that mean something here are read with that
 * meaning, so that a file works as it is; for the others it says why they are not needed. Pure.
 */
import { Check } from "typebox/value";
import type { Settings } from "./schema.ts";
import { expected, partOf, settingsShape } from "./shape.ts";

interface Reading {
	/** What it is called here. */
	own: keyof Settings;
	/** Their values in ours, written as JSON. Absent: they are the same. */
	values?: Readonly<Record<string, unknown>>;
}

const NOT = { true: false, false: true };

export const readings: Readonly<Record<string, Reading>> = {
	defaultJoinMode: { own: "join" },
	schedulingEnabled: { own: "scheduling" },
	disableDefaultAgents: { own: "builtins", values: NOT },
	disableBuiltins: { own: "builtins", values: NOT },
	widgetDisplayMode: { own: "widget" },
	widgetMode: { own: "widget", values: { '"all"': "auto", '"background"': "auto", '"off"': "off" } },
	maxSubagentDepth: { own: "maxDepth" },
	abortAllOnInterrupt: { own: "interrupt", values: { true: "all", false: "foreground" } },
	scopeModels: { own: "scopeModels", values: { true: "deny", false: "off" } },
	worktreeIsolation: { own: "worktrees" },
	excludedExtensionPackages: { own: "excludeExtensions" },
};

const ALWAYS = "always on here";
const KEPT = "always kept, for as long as `retention` says";

interface Unread {
	why: string;
	/** The values that change nothing, as JSON. With any other the user expects an effect, so it is reported. Absent: all. */
	met?: readonly string[];
}

/** Names that set nothing here, and why. */
export const unread: Readonly<Record<string, Unread>> = {
	toolDescriptionMode: {
		why: "the texts are short, and `agent-tool-description.md` replaces the text of `Agent`",
	},
	fleetView: { why: "the tree and `/agents` show every agent" },
	agentMentions: { why: "`mentions` says what happens to a message that begins with `@`" },
	strictAgentFiles: { why: "a broken file is always reported and affects no other", met: ["false"] },
	outputTranscript: { why: KEPT, met: ["true"] },
	rememberAgents: { why: KEPT, met: ["true"] },
	consumedSessionRetentionMinutes: { why: KEPT },
	unconsumedSessionRetentionMinutes: { why: KEPT },
	reportUsage: { why: ALWAYS },
	showCost: { why: "`/subagent view` shows it" },
	showModel: { why: "the tree names a model if it differs from that of the parent", met: ["false"] },
	viewerMarkdown: { why: "what agents say is shown as Markdown, what tools return is not", met: ['"assistant"'] },
	rollupChildUsage: { why: ALWAYS },
	waitTimeoutSeconds: { why: "a wait ends with the agent, with Escape, or when you type something" },
	maxConcurrentForeground: { why: "agents in the foreground also count towards `maxConcurrent`", met: ["0"] },
	workflowsEnabled: { why: "`/workflow` is always there, and `toolsets` says whether the model has its tool" },
	packageWorkflows: { why: "workflows that `pi.subagents.workflows` of an installed package names are always found" },
	agentScanDirs: { why: "only the usual directories and packages are read", met: ["[]"] },
	agentExcludeDirs: { why: "all of the usual directories are read", met: ["[]"] },
	defaultExtensions: { why: "an agent loads only the extensions that its preset names", met: ["[]"] },
	defaultProvider: { why: "`defaultModel` says which model, and the session's provider comes first" },
	defaultThinking: { why: "a preset's `thinking` counts, or else that of the session", met: [] },
	disabledFeatures: { why: "`toolsets`, `scheduling` and `worktrees` switch things off", met: ["[]"] },
	maxThinking: { why: "use `thinking` and `locked` of a preset", met: [] },
	modelScope: { why: "`scopeModels` limits agents to the models that are enabled in pi", met: [] },
	runnerLaunchers: {
		why: "`launchers` defines programs that agents run inside, and a preset names one",
		met: ["{}", "[]"],
	},
	toolActivation: { why: "`toolsets` says which tools are offered", met: [] },
	usageBudget: { why: "use `budget_tokens` and `budget_cost` of a preset, or the setting `budget`", met: [] },
};

export interface ForeignNote {
	/** As it stands in the file. */
	key: string;
	/** What it is read as; absent when it has no effect. */
	own?: string;
	why?: string;
}

/** A value that means nothing under a name that does, or one that would mean something under a name that does not. */
export type ForeignFault = { key: string } & ({ expected: string } | { why: string });

/** The same settings by our names. */
export function translate(content: Readonly<Record<string, unknown>>): {
	content: Record<string, unknown>;
	notes: ForeignNote[];
	faults: ForeignFault[];
} {
	const notes: ForeignNote[] = [];
	const faults: ForeignFault[] = [];
	const entries = Object.entries(content).flatMap(([key, value]): [string, unknown][] => {
		const needless = Object.hasOwn(unread, key) ? unread[key] : undefined;
		if (needless) {
			const { why, met } = needless;
			if (met && !met.includes(JSON.stringify(value))) faults.push({ key, why });
			else notes.push({ key, why });
			return [];
		}
		const reading = Object.hasOwn(readings, key) ? readings[key] : undefined;
		if (!reading) return [[key, value]];
		const meant = meaningOf(value, reading);
		if (key === reading.own) return [[key, meant ?? value]];
		if (meant === undefined) faults.push({ key, expected: expectedOf(reading) });
		else if (Object.hasOwn(content, reading.own)) notes.push({ key, why: `\`${reading.own}\` is also set` });
		else {
			notes.push({ key, own: reading.own });
			return [[reading.own, meant]];
		}
		return [];
	});
	return { content: Object.fromEntries(entries), notes, faults };
}

/** What a key is called here, if it is another extension's. */
export function ownName(key: string): string {
	return Object.hasOwn(readings, key) ? (readings[key]?.own ?? key) : key;
}

function meaningOf(value: unknown, { own, values }: Reading): unknown {
	if (values) return values[JSON.stringify(value) ?? ""];
	const shape = partOf(settingsShape, own);
	return shape && Check(shape, value) ? value : undefined;
}

function expectedOf({ own, values }: Reading): string {
	const shape = partOf(settingsShape, own);
	if (values) return `one of ${Object.keys(values).join(", ")}`;
	return shape ? expected(shape) : "";
}
