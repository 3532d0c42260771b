/** Whether presets, settings, models and tools work on this machine. */
import { AgentError, type Facts, matchPresetModel, type ParentFields } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import type { FileNote, PresetReport, StoredTrust } from "@pi-subagents/launch";
import { agentDescription } from "@pi-subagents/launch";
import type { Preset, Problem, SourceKind } from "@pi-subagents/presets";
import { formatCount } from "@pi-subagents/progress";
import type { Finding } from "./finding.ts";

/** More findings would bury the first ones. */
const MAX_LISTED = 10;

const KINDS: readonly SourceKind[] = ["builtin", "package", "runtime", "import", "global", "project"];

export function checkPresets({
	presets,
	problems,
	isExclusive = false,
}: Pick<PresetReport, "presets" | "problems" | "isExclusive">): Finding[] {
	if (presets.length === 0) return [NO_PRESETS, ...capped(problems.map(problemFinding))];
	const counts = KINDS.map((kind) => ({ kind, count: presets.filter(({ source }) => source.kind === kind).length }));
	const sources = counts.filter(({ count }) => count > 0).map(({ kind, count }) => `${count} ${kind}`);
	const off = presets.filter(({ enabled }) => !enabled).length;
	const text = `${formatCount(presets.length, "preset")}: ${sources.join(", ")}${off > 0 ? `; ${off} switched off` : ""}`;
	return [{ level: "ok", text }, ...(isExclusive ? [EXCLUSIVE] : []), ...capped(problems.map(problemFinding))];
}

const EXCLUSIVE: Finding = {
	level: "hint",
	text: "Preset files are not used in this session: another extension registered its presets as the only ones.",
};

const NO_PRESETS: Finding = {
	level: "problem",
	text: "There are no presets.",
	fix: "Put markdown files into .pi/subagents/, or set builtins to true.",
};

/** No fix: the message itself says what to change. */
function problemFinding({ path, line, message, severity }: Problem): Finding {
	const place = line === undefined ? path : `${path}:${line}`;
	return { level: severity === "error" ? "problem" : "hint", text: `${place}: ${message}` };
}

export function checkSettings({ config, presets, overrideOf, knows }: PresetReport): Finding[] {
	const unused = Object.keys(config.settings.agentOverrides).filter((name) => !knows(name));
	const overrides = presets.map(overrideOf);
	const findings: Finding[] = [
		...config.problems.map((text): Finding => {
			const refuses = config.refusals.some((refusal) => refusal.text === text);
			return { level: "problem", text, ...(refuses && { fix: REFUSED }) };
		}),
		...overrides.flatMap(({ faults }) => faults.map(overrideFault)),
		...unused.map((name) => overrideFault(`agentOverrides.${name}: there is no such preset`)),
		...overrides.flatMap(({ notes }) => notes.map((text): Finding => ({ level: "hint", text }))),
	];
	const verdict: Finding[] = findings.length === 0 ? [{ level: "ok", text: "no problems" }] : capped(findings);
	return [...verdict, ...capped(config.notes.map(noteFinding))];
}

/** Keys of other extensions need no fix: they either work or have no effect. */
function noteFinding({ path, key, own, why }: FileNote): Finding {
	const text = own === undefined ? `has no effect here: ${why}` : `is read as \`${own}\``;
	return { level: "ok", text: `${path}: \`${key}\` ${text}` };
}

function overrideFault(text: string): Finding {
	return { level: "problem", text, fix: "Fix it in your settings." };
}

const REFUSED = "Fix it in the file, or with /agents › Settings. No agent is launched until then.";

export function checkModels(report: PresetReport, { models }: Facts, parent: ParentFields): Finding[] {
	if (models.length === 0) return [NO_MODELS];
	const using = parent.model ? `; this session uses ${parent.model.provider}/${parent.model.id}` : "";
	const findings = usable(report).flatMap((preset) => modelHints(preset, report, models, parent));
	return [{ level: "ok", text: `${formatCount(models.length, "model")} available${using}` }, ...capped(findings)];
}

const NO_MODELS: Finding = {
	level: "problem",
	text: "No model is available.",
	fix: "Log in with /login, or set the API key of a provider.",
};

/** What may surprise. A model that no launch finds is a finding of `checkLaunches`. */
function modelHints(preset: Preset, report: PresetReport, models: Facts["models"], parent: ParentFields): Finding[] {
	const { name, path, source } = preset;
	const fields = report.overrideOf(preset).fields;
	const wanted = fields.model ?? preset.model ?? report.config.settings.defaultModel;
	const isFromFile = fields.model === undefined && preset.model !== undefined;
	if (wanted.trim() !== "" && wanted.toLowerCase() !== "inherit") {
		const hint = isFromFile ? replacedModel(wanted, preset, models, parent) : undefined;
		return hint === undefined ? [] : [{ level: "hint", text: hint }];
	}
	const mustBeNamed = source.flavour === "subagents" && (source.kind === "global" || source.kind === "project");
	if (wanted !== "" || !mustBeNamed) return [];
	const text = `${name} names no model, so subagent and background_agent calls must.`;
	return [{ level: "hint", text, fix: `Add \`model\` to ${path}; \`inherit\` uses the session's.` }];
}

/** Which model an agent gets instead of the one that its file names, if so. */
function replacedModel(
	wanted: string,
	preset: Preset,
	models: Facts["models"],
	parent: ParentFields,
): string | undefined {
	try {
		return matchPresetModel(wanted, preset, models, parent).warning;
	} catch (error) {
		if (error instanceof AgentError) return undefined; // a launch is refused
		throw error;
	}
}

/**
 * Whether every preset that is switched on could be launched here. `tryLaunch` makes its spec as a launch does, and
 * starts nothing.
 */
export async function checkLaunches(
	report: PresetReport,
	tryLaunch: (preset: string) => Promise<unknown>,
): Promise<Finding[]> {
	const tried = usable(report).map(async ({ name, path, source }): Promise<Finding[]> => {
		try {
			await tryLaunch(name);
			return [];
		} catch (error) {
			const where = source.kind === "builtin" ? "your settings" : `${path} or your settings`;
			return [{ level: "problem", text: `${name} cannot be launched: ${messageOf(error)}`, fix: `Change ${where}.` }];
		}
	});
	const refused = (await Promise.all(tried)).flat();
	return refused.length > 0 ? capped(refused) : [{ level: "ok", text: "every preset can be launched" }];
}

/** The user's own description of the `Agent` tool, read as at session start. */
export function checkDescription(
	report: PresetReport,
	{ agentDir, ...session }: { cwd: string; agentDir: string; trust: StoredTrust },
): Finding[] {
	const facts = { presets: usable(report), agentDir, ...report.config.settings };
	const { path, problems } = agentDescription(session, facts);
	const text = path === undefined ? "Agent uses its default text" : `Agent uses the text in ${path}`;
	const fix = "Fix the file, then /reload.";
	return [{ level: "ok", text }, ...problems.map((problem): Finding => ({ level: "problem", text: problem, fix }))];
}

export function checkTools({ tools }: Pick<Facts, "tools">): Finding[] {
	return [{ level: "ok", text: `agents can use ${tools.map(({ name }) => name).join(", ")}` }];
}

function usable({ presets, overrideOf }: PresetReport): Preset[] {
	return presets.filter((preset) => overrideOf(preset).fields.enabled ?? preset.enabled);
}

function capped(findings: readonly Finding[]): Finding[] {
	const more = findings.length - MAX_LISTED;
	if (more <= 0) return [...findings];
	const level =
		(["problem", "hint"] as const).find((each) => findings.some((finding) => finding.level === each)) ?? "ok";
	return [...findings.slice(0, MAX_LISTED), { level, text: `and ${more} more` }];
}
