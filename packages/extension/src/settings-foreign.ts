/**
 * Settings by the names that other sub-agent extensions gave them. Those that mean something here are read with that
 * meaning, so that a file works as it is; of the others it is known why they are not needed. Pure.
 */
import { Check } from "typebox/value";
import type { Settings } from "./settings-schema.ts";
import { expected, partOf, settingsShape } from "./settings-shape.ts";

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
};

const ALWAYS = "always so here";
const KEPT = "always kept, for as long as `retention` says";

/** Why nobody needs to set them here. */
export const needless: Readonly<Record<string, string>> = {
	backgroundByDefault: "`Agent` works in the background unless the call says otherwise",
	toolDescriptionMode: "the texts of tools are always short",
	fleetView: "the tree and `/agents` show every agent",
	agentMentions: "the model knows every preset; name one in your own words",
	strictAgentFiles: "a broken file is always reported, and costs only itself",
	fallbackSubagent: "an unknown preset is an error that names the known ones",
	outputTranscript: KEPT,
	rememberAgents: KEPT,
	consumedSessionRetentionMinutes: KEPT,
	unconsumedSessionRetentionMinutes: KEPT,
	reportUsage: ALWAYS,
	showCost: "`/subagent view` shows it",
	rollupChildUsage: ALWAYS,
	waitTimeoutSeconds: "a wait ends with the agent, with Escape, or when you type something",
	worktreeIsolation: "the preset or the call decides",
	packageAgents: ALWAYS,
	excludedExtensionPackages: "`exclude_extensions` of a preset says it",
	workflowsEnabled: "there are none",
	packageWorkflows: "there are none",
};

export interface ForeignNote {
	/** As it stands in the file. */
	key: string;
	/** What it is read as; absent when it has no effect. */
	own?: string;
	why?: string;
}

/** A value that means nothing, under a name that does. */
export interface ForeignFault {
	key: string;
	expected: string;
}

/** The same settings by our names. */
export function translate(content: Readonly<Record<string, unknown>>): {
	content: Record<string, unknown>;
	notes: ForeignNote[];
	faults: ForeignFault[];
} {
	const notes: ForeignNote[] = [];
	const faults: ForeignFault[] = [];
	const entries = Object.entries(content).flatMap(([key, value]): [string, unknown][] => {
		const why = Object.hasOwn(needless, key) ? needless[key] : undefined;
		if (why !== undefined) {
			notes.push({ key, why });
			return [];
		}
		const reading = Object.hasOwn(readings, key) ? readings[key] : undefined;
		if (!reading) return [[key, value]];
		const meant = meaningOf(value, reading);
		if (key === reading.own) return [[key, meant ?? value]];
		if (meant === undefined) faults.push({ key, expected: expectedOf(reading) });
		else if (Object.hasOwn(content, reading.own)) notes.push({ key, why: `\`${reading.own}\` is set, too` });
		else {
			notes.push({ key, own: reading.own });
			return [[reading.own, meant]];
		}
		return [];
	});
	return { content: Object.fromEntries(entries), notes, faults };
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
