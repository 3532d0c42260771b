/** Whether the presets and the settings can be used as they are, on this machine, now. Pure. */
import { AgentError, type Facts, matchModel, type ParentFields, resolveTools } from "@pi-subagents/core";
import type { Preset, Problem, SourceKind } from "@pi-subagents/presets";
import { formatCount } from "@pi-subagents/progress";
import type { Survey } from "../../presets.ts";
import type { FileNote } from "../../settings.ts";
import type { Finding } from "./finding.ts";

/** More would bury the first. */
const MOST_LISTED = 10;

const KINDS: readonly SourceKind[] = ["builtin", "package", "import", "global", "project"];

export function checkPresets({ presets, problems }: Pick<Survey, "presets" | "problems">): Finding[] {
	if (presets.length === 0) return [NO_PRESETS, ...capped(problems.map(problemFinding))];
	const counts = KINDS.map((kind) => ({ kind, count: presets.filter(({ source }) => source.kind === kind).length }));
	const sources = counts.filter(({ count }) => count > 0).map(({ kind, count }) => `${count} ${kind}`);
	const off = presets.filter(({ enabled }) => !enabled).length;
	const text = `${formatCount(presets.length, "preset")}: ${sources.join(", ")}${off > 0 ? `; ${off} switched off` : ""}`;
	return [{ level: "ok", text }, ...capped(problems.map(problemFinding))];
}

const NO_PRESETS: Finding = {
	level: "problem",
	text: "There are no presets.",
	fix: "Put markdown files into .pi/subagents/, or set builtins to true.",
};

/** The message says what to do: it is written for whoever edits the file. */
function problemFinding({ path, line, message, severity }: Problem): Finding {
	const place = line === undefined ? path : `${path}:${line}`;
	return { level: severity === "error" ? "problem" : "hint", text: `${place}: ${message}` };
}

export function checkSettings({ config, presets, overrideOf }: Survey): Finding[] {
	const names = new Set(presets.map(({ name }) => name.toLowerCase()));
	const unused = Object.keys(config.settings.agentOverrides).filter((name) => !names.has(name.toLowerCase()));
	const findings: Finding[] = [
		...config.problems.map((text): Finding => ({ level: "problem", text })),
		...presets.flatMap((preset) => overrideOf(preset).faults.map((fault) => overrideFault(preset.name, fault))),
		...unused.map((name) => overrideFault(name, "there is no such preset")),
	];
	const verdict: Finding[] = findings.length === 0 ? [{ level: "ok", text: "no problems" }] : capped(findings);
	return [...verdict, ...capped(config.notes.map(noteFinding))];
}

/** A name of another extension is nothing to mend: it works, or nothing is lost with it. */
function noteFinding({ path, key, own, why }: FileNote): Finding {
	const text = own === undefined ? `has no effect here: ${why}` : `is read as \`${own}\``;
	return { level: "ok", text: `${path}: \`${key}\` ${text}` };
}

function overrideFault(name: string, fault: string): Finding {
	return { level: "problem", text: `agentOverrides.${name}: ${fault}`, fix: "Correct it in your settings." };
}

export function checkModels(survey: Survey, { models }: Facts, parent: ParentFields): Finding[] {
	if (models.length === 0) return [NO_MODELS];
	const using = parent.model ? `; this session uses ${parent.model.provider}/${parent.model.id}` : "";
	const findings = usable(survey).flatMap((preset) => modelFindings(preset, survey, models, parent));
	return [{ level: "ok", text: `${formatCount(models.length, "model")} available${using}` }, ...capped(findings)];
}

const NO_MODELS: Finding = {
	level: "problem",
	text: "No model is available.",
	fix: "Log in with /login, or set the API key of a provider.",
};

function modelFindings(preset: Preset, survey: Survey, models: Facts["models"], parent: ParentFields): Finding[] {
	const { name, path, source } = preset;
	const wanted = survey.overrideOf(preset).fields.model ?? preset.model ?? survey.config.settings.defaultModel;
	if (wanted.trim() !== "" && wanted.toLowerCase() !== "inherit") {
		return complaint(
			() => matchModel(wanted, models, parent.model?.provider),
			(message) => ({ text: `${name}: ${message}`, fix: `Change \`model\` in ${path}.` }),
		);
	}
	const mustBeNamed = source.flavour === "subagents" && (source.kind === "global" || source.kind === "project");
	if (wanted !== "" || !mustBeNamed) return [];
	return [{ level: "hint", text: `${name} names no model, so every call has to.`, fix: `Add \`model\` to ${path}.` }];
}

export function checkTools(survey: Survey, { tools }: Facts): Finding[] {
	const findings = usable(survey).flatMap((preset) => {
		const { name, path, source } = preset;
		const asked = { ...preset, ...survey.overrideOf(preset).fields, preset: name, isFromProject: source.inProject };
		return complaint(
			() => resolveTools(asked, tools),
			(text) => ({ text, fix: `Change \`tools\` in ${path}.` }),
		);
	});
	const ok: Finding = { level: "ok", text: `agents can have ${tools.map(({ name }) => name).join(", ")}` };
	return [ok, ...capped(findings)];
}

/** What the launch itself would say: it asks the same functions. */
function complaint(look: () => unknown, say: (message: string) => Omit<Finding, "level">): Finding[] {
	try {
		look();
		return [];
	} catch (error) {
		if (error instanceof AgentError) return [{ level: "problem", ...say(error.message) }];
		throw error;
	}
}

function usable({ presets, overrideOf }: Survey): Preset[] {
	return presets.filter((preset) => overrideOf(preset).fields.enabled ?? preset.enabled);
}

function capped(findings: readonly Finding[]): Finding[] {
	const more = findings.length - MOST_LISTED;
	if (more <= 0) return [...findings];
	const level =
		(["problem", "hint"] as const).find((each) => findings.some((finding) => finding.level === each)) ?? "ok";
	return [...findings.slice(0, MOST_LISTED), { level, text: `and ${more} more` }];
}
