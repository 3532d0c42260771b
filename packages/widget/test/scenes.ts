/** Agents in situations that a person should be able to read at a glance. */
import type { AgentView, FitOptions } from "../src/index.ts";

export const NOW = 1_700_000_000_000;

const tokens = (input: number) => ({ input, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 });
const ago = (seconds: number) => NOW - seconds * 1_000;

/** Three levels at work, one waiting for its turn, two that are done. */
export const family: readonly AgentView[] = [
	{
		id: "plan",
		status: "running",
		type: "Plan",
		model: "anthropic/opus",
		description: "split task",
		turns: 3,
		maxTurns: 20,
		toolUses: 4,
		usage: tokens(22_812),
		contextPercent: 38,
		startedAt: ago(72),
	},
	{
		id: "inspect",
		parentAgentId: "plan",
		status: "running",
		type: "Explore",
		description: "inspect widget data flow",
		activity: "reading agent-widget.ts",
		startedAt: ago(14.2),
	},
	{
		id: "trace",
		parentAgentId: "inspect",
		status: "running",
		type: "general-purpose",
		description: "trace manager ownership",
		activity: "searching tests",
		startedAt: ago(4.8),
	},
	{
		id: "audit",
		parentAgentId: "plan",
		status: "completed",
		type: "auditor",
		description: "review plan",
		startedAt: ago(40),
		completedAt: ago(9),
	},
	{ id: "later", status: "queued", type: "Explore", description: "queued after concurrency cap" },
	{ id: "old", status: "failed", type: "Plan", description: "old attempt", error: "model unavailable" },
];

const step = (id: string, phase: string, more: Partial<AgentView> = {}): AgentView => ({
	id,
	parentAgentId: "flow",
	phase,
	status: "running",
	type: "reviewer",
	description: id,
	startedAt: ago(5),
	...more,
});

/** A workflow: agents of two phases at work, more called than launched. */
const workflow: readonly AgentView[] = [
	{
		id: "flow",
		status: "running",
		type: "workflow",
		description: "review",
		activity: "Refute · 43/80 agents",
		startedAt: ago(62),
		phases: [
			{ title: "Find", done: 1, total: 1 },
			{ title: "Review", done: 30, total: 39 },
			{ title: "Refute", done: 12, total: 40 },
		],
	},
	step("a.ts", "Review", { activity: "reading a.ts" }),
	step("b.ts", "Review"),
	step("c.ts", "Refute", { status: "completed", completedAt: ago(1) }),
	step("d.ts", "Refute", { status: "queued" }),
	step("no phase", ""),
];

/** Every status and every way to end. */
const statuses: readonly AgentView[] = [
	{
		id: "busy",
		status: "running",
		type: "worker",
		model: "anthropic/claude-sonnet-4-5-20250929",
		description: "port the settings menu",
		activity: "Editing packages/extension/src/menus/settings.ts",
		turns: 12,
		maxTurns: 40,
		toolUses: 31,
		usage: tokens(148_200),
		contextPercent: 74,
		compactions: 1,
		startedAt: ago(312),
		lastEventAt: ago(2),
	},
	{
		id: "silent",
		status: "running",
		type: "worker",
		description: "run the whole test suite",
		activity: "npm test",
		startedAt: ago(260),
		lastEventAt: ago(200),
		memory: { pending: [{ tool: "bash" }] },
	},
	{
		id: "stuck",
		status: "running",
		type: "scout",
		description: "read the mailing list",
		startedAt: ago(700),
		lastEventAt: ago(640),
		turns: 2,
		toolUses: 1,
	},
	{
		id: "asking",
		status: "waiting",
		type: "planner",
		description: "choose a database",
		question: "Postgres or SQLite for the job store?",
		startedAt: ago(95),
	},
	{ id: "next", status: "queued", type: "reviewer", description: "review the port" },
	{
		id: "well",
		status: "completed",
		type: "scout",
		description: "find the callers",
		startedAt: ago(50),
		completedAt: ago(8),
		outcome: {
			status: "completed",
			text: "…",
			verification: { ok: true, command: "npm test", durationMs: 12_300 },
		},
	},
	{
		id: "wrapped",
		status: "completed",
		type: "scout",
		description: "list all flags",
		startedAt: ago(90),
		completedAt: ago(3),
		outcome: {
			status: "completed",
			text: "…",
			wrappedUp: true,
		},
	},
	{
		id: "broken",
		status: "failed",
		type: "worker",
		description: "fix the build",
		startedAt: ago(20),
		completedAt: ago(4),
		outcome: { status: "failed", error: "429 Too Many Requests: slow down, please" },
	},
	{
		id: "stopped",
		status: "aborted",
		type: "worker",
		description: "rename everything",
		startedAt: ago(30),
		completedAt: ago(1),
		outcome: { status: "aborted", by: "user" },
	},
	{
		id: "timeout",
		status: "aborted",
		type: "worker",
		description: "download the internet",
		startedAt: ago(600),
		completedAt: ago(0),
		outcome: { status: "aborted", by: "timeout" },
	},
];

/** Agents whose parent nobody knows. */
export const orphans: readonly AgentView[] = [
	...family.slice(0, 2),
	{
		id: "lost",
		parentAgentId: "gone",
		status: "running",
		type: "worker",
		description: "left behind",
		startedAt: ago(3),
	},
	{ id: "lost-too", parentAgentId: "lost", status: "queued", type: "scout", description: "after it" },
];

/** Far more than fit: busy, waiting and finished branches. */
export const crowd: readonly AgentView[] = Array.from({ length: 5 }, (_, at): AgentView[] => {
	const id = `lead-${at}`;
	const status = at === 4 ? "completed" : "running";
	const lead: AgentView = { id, status, type: "planner", description: `part ${at + 1}`, startedAt: ago(60 + at) };
	const settled = status === "completed" ? { completedAt: ago(2) } : {};
	return [
		{ ...lead, ...settled },
		{
			id: `${id}-a`,
			parentAgentId: id,
			status,
			type: "worker",
			description: "write it",
			startedAt: ago(30),
			...settled,
		},
		{
			id: `${id}-b`,
			parentAgentId: id,
			status: at === 4 ? "completed" : "queued",
			type: "worker",
			description: "test it",
			...settled,
		},
		{ id: `${id}-c`, parentAgentId: id, status: "completed", type: "scout", description: "look", completedAt: ago(2) },
	];
}).flat();

/** Other scripts, pictures and tricks. */
const strange: readonly AgentView[] = [
	{
		id: "han",
		status: "running",
		type: "調査員",
		description: "すべてのテストを実行して、失敗した理由を調べて報告する",
		activity: "読んでいます：設定ファイル.ts",
		startedAt: ago(12),
	},
	{
		id: "emoji",
		parentAgentId: "han",
		status: "running",
		type: "👩‍🔬 lab",
		description: "🧪 mix 🇩🇪 and 🇯🇵 👍🏽",
		activity: "🔥🔥🔥",
		startedAt: ago(5),
	},
	{
		id: "trick",
		status: "failed",
		type: "\x1b[31mred\x1b[0m",
		description: "tab\there\nand \x1b]0;title\x07 a \u202eesrever\u202c word",
		error: "line one\r\nline two\x1b[2J",
	},
	{ id: "rtl", status: "queued", type: "עוזר", description: "בדיקת הקוד כולו" },
];

/** Agents whose records do not say what happens now. */
const live: readonly AgentView[] = [
	{ id: "plan", status: "running", type: "Plan", description: "split the work", startedAt: NOW - 40_000 },
	{
		id: "asks-plan",
		status: "waiting",
		type: "scout",
		description: "find the config",
		parentAgentId: "plan",
		question: "Which config is meant, the user's or the project's?",
		waitsFor: { who: "agent", name: "Plan" },
		startedAt: NOW - 20_000,
	},
	{ id: "writes", status: "running", type: "worker", description: "write the docs", activity: "Finished reading a.ts" },
	{ id: "full", status: "queued", type: "reviewer", description: "review the port" },
	{ id: "paused", status: "queued", type: "tester", description: "run the tests" },
];

const DOING: Readonly<Record<string, string>> = {
	plan: "thinking…",
	writes: "writing…",
	full: "waiting for a slot (3 ahead)",
	paused: "anthropic asks to wait 12s",
};

const activityOf = (id: string) => DOING[id];

/** What is drawn, under which name. */
export const scenes: Record<string, { agents: readonly AgentView[]; options: Omit<FitOptions, "width" | "now"> }> = {
	"rich: three levels": { agents: family, options: { mode: "rich", maxLines: 12, maxDepth: 4 } },
	"compact: one line for each": { agents: family, options: { mode: "compact", maxLines: 12, maxDepth: 4 } },
	"auto: rich if it fits": { agents: family, options: { mode: "auto", maxLines: 12, maxDepth: 4 } },
	"auto: compact when lines are few": { agents: family, options: { mode: "auto", maxLines: 8, maxDepth: 4 } },
	"focused: where is it": { agents: family, options: { mode: "focused", maxLines: 12, focusId: "trace" } },
	"rich: a workflow by phases": { agents: workflow, options: { mode: "rich", maxLines: 12 } },
	"compact: a workflow by phases": { agents: workflow, options: { mode: "compact", maxLines: 6 } },
	"focused: in a phase": { agents: workflow, options: { mode: "focused", maxLines: 8, focusId: "a.ts" } },
	"rich: every status": { agents: statuses, options: { mode: "rich", maxLines: 30 } },
	"compact: every status": { agents: statuses, options: { mode: "compact", maxLines: 30 } },
	"rich: orphans": { agents: orphans, options: { mode: "rich", maxLines: 12 } },
	"auto: a crowd": { agents: crowd, options: { mode: "auto", maxLines: 12 } },
	"rich: a crowd": { agents: crowd, options: { mode: "rich", maxLines: 12 } },
	"compact: a crowd in four lines": { agents: crowd, options: { mode: "compact", maxLines: 4 } },
	"focused: a crowd": { agents: crowd, options: { mode: "focused", maxLines: 12, focusId: "lead-1" } },
	"rich: what only the manager knows": { agents: live, options: { mode: "rich", maxLines: 12, activityOf } },
	"compact: what only the manager knows": { agents: live, options: { mode: "compact", maxLines: 12, activityOf } },
	"rich: other scripts and tricks": { agents: strange, options: { mode: "rich", maxLines: 12 } },
	"compact: other scripts and tricks": { agents: strange, options: { mode: "compact", maxLines: 12 } },
};
