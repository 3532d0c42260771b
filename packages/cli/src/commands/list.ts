/** `list` and `watch`: every agent of the user in one table, those that need input first. */
import { setTimeout as delay } from "node:timers/promises";
import { formatCount, safeJson, sanitize } from "@pi-subagents/progress";
import { type RunList, type RunOverview, runTextOf } from "@pi-subagents/runs";
import { clip, lineOf } from "@pi-subagents/widget/cells";
import { type Context, runsFor } from "./context.ts";

const GROUPS = [
	["needs-input", "Needs input"],
	["working", "Working"],
	["done", "Done"],
] as const;

const DONE_SHOWN = 10;
const LOOK_MS = 1_000;
const NARROWEST = 40;
const MIN_NAME = 16;
const MAX_PRESET = 24;
const MIN_ABOUT = 16;
/** Where there is no terminal, lines are cut only to keep them readable. */
const WITHOUT_TERMINAL = 160;
const CLEAR = "\u001b[H\u001b[2J\u001b[3J";

export async function list(context: Context): Promise<number> {
	context.stdout.write(textOf(await runsFor(context), context));
	return 0;
}

/** Draws again when something changed. In a terminal in place, elsewhere one table after the other. */
export async function watch(context: Context): Promise<number> {
	const { stdout, signal } = context;
	for (let shown = ""; !signal.aborted; ) {
		const text = textOf(await runsFor(context), context);
		if (text !== shown) stdout.write(stdout.isTTY ? `${CLEAR}${text}` : text);
		shown = text;
		await delay(LOOK_MS, undefined, { signal }).catch(() => undefined); // the user ended it
	}
	return 0;
}

function textOf(found: RunList, { flags, stdout, env }: Context): string {
	if (flags.json) return `${safeJson(found)}\n`;
	const width = Math.max(NARROWEST, (stdout.isTTY && stdout.columns) || WITHOUT_TERMINAL);
	return table(found, { now: Date.now(), width, all: flags.all, home: env.HOME });
}

interface TableOptions {
	now: number;
	width: number;
	all: boolean;
	home: string | undefined;
}

/** Pure. */
function table({ runs, leftOut, problems }: RunList, options: TableOptions): string {
	const { all, width } = options;
	const lines = GROUPS.flatMap(([group, title]) => {
		const members = runs.filter(({ state }) => state.group === group);
		const shown = group === "done" && !all ? members.slice(0, DONE_SHOWN) : members;
		if (members.length === 0) return [];
		return ["", `${title} (${members.length})`, ...shown.flatMap((run) => row(run, options))];
	});
	const hidden = leftOut + Math.max(0, runs.filter(({ state }) => state.group === "done").length - DONE_SHOWN);
	if (!all && hidden > 0) lines.push("", `${hidden} more: pi-subagents list --all`);
	if (problems.length > 0) {
		const first = sanitize(problems[0] ?? "");
		lines.push("", clip(`${formatCount(problems.length, "directory", "directories")} unread: ${first}`, width));
	}
	return `${lines.slice(1).join("\n") || NOTHING}\n`;
}

const NOTHING = "No agents have run yet. They appear here once pi has started one.";

/** Two lines: who and what; then what it does now, and where. */
function row(run: RunOverview, { now, width, home }: TableOptions): string[] {
	const { icon, status, preset, who, about, now: doing, age } = runTextOf(run, now);
	const project = sanitize(shortened(run.project, home));
	const [head, body] = ["  ", "      "];
	const first = [
		{ text: `${icon} ${who}`, max: Math.max(MIN_NAME, Math.floor(width / 3)) },
		{ text: preset, max: MAX_PRESET, dropOrder: 2 },
		{ text: about, min: MIN_ABOUT, dropOrder: 1 },
		{ text: `(${status}, ${age})` },
	];
	const second = [
		{ text: doing, min: MIN_ABOUT },
		{ text: `[${project}]`, min: MIN_ABOUT, dropOrder: 1 },
	];
	return [head + lineOf(first, width - head.length), body + lineOf(second, width - body.length)];
}

function shortened(path: string, home: string | undefined): string {
	return home !== undefined && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
