/**
 * The user's own text for the `Agent` tool: `.pi/agent-tool-description.md` of a trusted project, else the one in pi's
 * own directory. Placeholders keep the changing parts current. Problems with a file are reported, and the built-in text
 * is used if none is usable.
 */
import { join } from "node:path";
import { nearest } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import { leadsInto, readSmallFileSync } from "@pi-subagents/core/internal/files";
import type { Preset } from "@pi-subagents/presets";
import { beginningOf, formatCount, sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { listWithin, presetLines } from "./preset-list.ts";
import { barredText, type StoredTrust } from "./settings/config.ts";

const FILE = "agent-tool-description.md";

/** It is paid for with every request; a text of the length that others ship fits twice. */
const MAX_CHARACTERS = 16_000;

/** Of all types together, and of each. */
const LIST_CHARACTERS = 6_000;
const TYPE_CHARACTERS = 500;

export interface DescriptionFile {
	path: string;
	text: string;
}

export interface AgentDescription {
	/** Where the text comes from; absent with the text that comes with us. */
	path?: string;
	/** Cleaned, expanded and cut. */
	text?: string;
	/** One line each, with the place. */
	problems: string[];
}

/** What placeholders stand for. */
export interface DescriptionFacts {
	presets: readonly Preset[];
	agentDir: string;
	maxDepth: number;
	scheduling: boolean;
}

export function agentDescription(
	session: { cwd: string; trust: StoredTrust },
	facts: DescriptionFacts,
): AgentDescription {
	const { file, problems } = findFile(session, facts.agentDir);
	if (!file) return { problems };
	const { text, problems: more } = expand(file, facts);
	return { path: file.path, text, problems: [...problems, ...more] };
}

/** The project's comes first. One that cannot be used gives way to the user's. */
function findFile(
	{ cwd, trust }: { cwd: string; trust: StoredTrust },
	agentDir: string,
): { file?: DescriptionFile; problems: string[] } {
	const problems: string[] = [];
	const own = join(cwd, ".pi", FILE);
	const candidates = [
		{ path: own, barred: trust === "yes" ? undefined : barredText(trust) },
		{ path: join(agentDir, FILE), barred: undefined },
	];
	for (const { path, barred } of candidates) {
		try {
			const text = readSmallFileSync(path);
			if (text === undefined) continue;
			const fault =
				barred ?? (path === own && !leadsInto(cwd, path) ? "not used: it leads out of the project" : undefined);
			if (fault === undefined && sanitizeBlock(text).trim() !== "") return { file: { path, text }, problems };
			problems.push(`${path}: ${fault ?? "not used: it is empty"}`);
		} catch (error) {
			problems.push(`${path}: ${barred ?? `not used: ${messageOf(error)}`}`);
		}
	}
	return { problems };
}

/** Pure. An unknown placeholder stays as it is, so that it is noticed. */
export function expand({ path, text }: DescriptionFile, facts: DescriptionFacts): { text: string; problems: string[] } {
	const problems: string[] = [];
	const clean = sanitizeBlock(text).trim();
	const expanded = clean.replace(/\{\{\s*(\w+)\s*\}\}/g, (written, name: string, at: number) => {
		const value = Object.hasOwn(PLACEHOLDERS, name) ? PLACEHOLDERS[name] : undefined;
		if (value) return value(facts);
		const line = clean.slice(0, at).split("\n").length;
		const meant = nearest(name, Object.keys(PLACEHOLDERS));
		const hint = meant === undefined ? `known: ${Object.keys(PLACEHOLDERS).join(", ")}` : `did you mean {{${meant}}}?`;
		problems.push(`${path}:${line}: ${beginningOf(written, 60)} is no placeholder; ${hint}`);
		return written;
	});
	const beyond = expanded.length - MAX_CHARACTERS;
	if (beyond > 0)
		problems.push(
			`${path}: the text is cut to ${formatCount(MAX_CHARACTERS, "character")}; ${formatCount(beyond, "character")} too long`,
		);
	return { text: beginningOf(expanded, MAX_CHARACTERS), problems: problems.slice(0, MAX_PROBLEMS) };
}

/** A file that is no text for this would bury everything else. */
const MAX_PROBLEMS = 10;

/** Guidelines about what can be switched off bring their own line, so that nothing is left where they are empty. */
const PLACEHOLDERS: Record<string, (facts: DescriptionFacts) => string> = {
	typeList,
	compactTypeList: ({ presets }) => presetLines(presets).join("\n"),
	agentDir: ({ agentDir }) => sanitize(agentDir),
	currentDepth: () => "0",
	maxDepth: ({ maxDepth }) => String(maxDepth),
	recursiveGuideline: ({ maxDepth }) =>
		maxDepth > 1
			? `Agents whose preset allows it can launch agents of their own, down to level ${maxDepth}; this session is level 0.`
			: "Agents cannot launch agents of their own.",
	isolationGuideline: () => '\n- Use isolation: "worktree" to let the agent work in its own git worktree.',
	scheduleGuideline: ({ scheduling }) =>
		scheduling ? '\n- Use schedule to run the call later or repeatedly: cron, "30m", "+10m" or an ISO time.' : "",
};

function typeList({ presets }: DescriptionFacts): string {
	const about = ({ description, tools }: Preset) =>
		`${beginningOf(sanitize(description), TYPE_CHARACTERS)} (Tools: ${toolsText(tools)})`;
	return listWithin(presets, LIST_CHARACTERS, about).join("\n");
}

function toolsText(tools: Preset["tools"]): string {
	return tools === undefined || tools === "*" ? "all" : sanitize(tools.join(", ")) || "none";
}
