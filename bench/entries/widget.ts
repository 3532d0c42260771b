/**
 * A frame of the tree of agents: one changed record, the tree, the choice of rows, the lines. Beside formatting and
 * truncating only the rows that are seen and beside the widgets of others.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { truncateToWidth } from "@earendil-works/pi-tui";
import { messageOf } from "@pi-subagents/core/internal/base";
import { formatCount, formatDuration, formatTokens } from "@pi-subagents/progress";
import { type AgentView, buildTree, fit, type PiTheme, piTheme, render } from "@pi-subagents/widget";
import type { Benchmark, Subject } from "../measure.ts";
import { importSource, RIVALS, rivalDir } from "../rivals.ts";

const WIDTH = 120;
const MAX_LINES = 12;
/** One of ours is too short to be measured; one of the others may take a fifth of a second. */
const FRAMES = 100;
const FRAMES_OF_RIVALS = 5;
/** A frame may cost time in proportion to the agents: 0.4 ms with 1,000 of them, half of what the visible rows take. */
const TARGETS = { 10: 2, 100: 2, 1000: 0.5, 5000: 3 };
const NOW = Date.now();

const pi: PiTheme = {
	fg: (_color, text) => `\x1b[38;2;128;128;128m${text}\x1b[39m`,
	bold: (text) => `\x1b[1m${text}\x1b[22m`,
};
const theme = piTheme(pi);

/** Draws the n-th frame and returns its lines. */
type Draw = (frame: number) => readonly string[];

export const widget: Benchmark[] = [
	...Object.entries(TARGETS).map(([agents, target]) =>
		row(`${agents} agents`, target, ours(Number(agents)), floor(Number(agents))),
	),
	...(await Promise.all(
		RIVALS.map(async (_, index) => row("1,000 agents", 1, ours(1_000), await rival(index, 1_000))),
	)),
];

/** The same frame, drawn by each: for a table of all of them. */
export const frameOf = { floor, ours, rival };

function row(what: string, target: number, mine: Subject, against: Subject): Benchmark {
	return { name: `widget: a frame, ${what}`, target, unit: "µs", rounds: 15, ours: mine, against };
}

function perFrame(name: string, draw: Draw, frames = FRAMES): Subject {
	let frame = 0;
	return {
		name,
		once() {
			const start = performance.now();
			// A frame without lines would be fast for the wrong reason.
			for (let drawn = 0; drawn < frames; drawn++)
				if (draw(frame++).length < 3) throw new Error(`${name} drew nothing`);
			return ((performance.now() - start) * 1_000) / frames;
		},
	};
}

/** Every second one was launched by the one before it. All are at work, and one that is seen changes every time. */
function agentsOf(count: number): AgentView[] {
	return Array.from({ length: count }, (_, at) => ({
		id: `agent-${at}`,
		parentAgentId: at % 2 === 0 ? undefined : `agent-${at - 1}`,
		status: "running",
		type: "worker",
		model: "some/model-4",
		description: "port the settings menu to the new interface",
		activity: `Reading packages/core/src/part-${at}.ts`,
		turns: 3,
		maxTurns: 20,
		toolUses: 12,
		usage: { input: 22_812, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 },
		contextPercent: 38,
		startedAt: NOW - 72_000,
		lastEventAt: NOW,
	}));
}

function changed(agents: readonly AgentView[], frame: number): AgentView {
	return { ...(agents[frame % 10] as AgentView), activity: `Editing packages/core/src/part-${frame}.ts`, turns: frame };
}

function ours(count: number): Subject {
	const agents = agentsOf(count);
	return perFrame(`ours with ${count}`, (frame) => {
		agents[frame % 10] = changed(agents, frame);
		const layout = fit(buildTree(agents), { mode: "auto", width: WIDTH, maxLines: MAX_LINES, now: NOW + frame * 100 });
		return render(layout, theme);
	});
}

/** No tree, no choice, no colours: the rows are known, and each is made once. */
function floor(count: number): Subject {
	const agents = agentsOf(count).slice(0, MAX_LINES - 1);
	return perFrame("visible rows only", (frame) => {
		agents[frame % 10] = changed(agents, frame);
		return agents.map((view) => {
			const figures = [
				view.activity,
				`↻${view.turns}≤${view.maxTurns}`,
				formatCount(view.toolUses ?? 0, "tool"),
				`${formatTokens(view.usage?.input ?? 0)} token (${view.contextPercent}%)`,
				formatDuration(NOW + frame * 100 - (view.startedAt ?? 0)),
			];
			return truncateToWidth(`├─ ⠋ ${view.type} ${view.description} · ${figures.join(" · ")}`, WIDTH);
		});
	});
}

/** One that cannot be had makes a row that fails, and says why. */
async function rival(index: number, count: number): Promise<Subject> {
	const name = `rival ${index + 1} with ${count}`;
	try {
		const dir = await rivalDir(RIVALS[index] as (typeof RIVALS)[number]);
		const draw = index === 0 ? await firstRival(dir, agentsOf(count)) : await secondRival(dir, agentsOf(count));
		return perFrame(name, draw, FRAMES_OF_RIVALS);
	} catch (error) {
		return { name: `${name} cannot be had (${messageOf(error)})`, once: () => Number.NaN };
	}
}

/** Its records are changed in place, as it does itself. */
async function firstRival(dir: string, agents: readonly AgentView[]): Promise<Draw> {
	const { AgentWidget } = await import(pathToFileURL(join(dir, "dist/ui/agent-widget.js")).href);
	const records = agents.map(({ id, type, description, toolUses, startedAt, status }) => {
		return { id, type, description, toolUses, startedAt, status, isBackground: true };
	});
	const doing = () => ({
		turnCount: 3,
		maxTurns: 20,
		toolUses: 12,
		responseText: "",
		activeTools: new Map([["1", "read"]]),
		lifetimeUsage: { input: 22_812, output: 0, cacheWrite: 0 },
	});
	const activity = new Map(records.map(({ id }) => [id, doing()]));
	const drawn = new AgentWidget({ listAgents: () => records }, activity, () => "all");
	return (frame) => {
		const live = activity.get(`agent-${frame % 10}`);
		if (live) live.turnCount = frame;
		return drawn.renderWidget({ terminal: { columns: WIDTH } }, pi);
	};
}

async function secondRival(dir: string, agents: readonly AgentView[]): Promise<Draw> {
	const { buildWidgetLines } = await importSource(dir, "src/tui/render.ts");
	const jobs = agents.map(({ id, type, description, startedAt }) => ({
		asyncId: id,
		asyncDir: "",
		status: "running",
		mode: "single",
		agents: [type],
		description,
		currentTool: "read",
		currentPath: "packages/core/src/part.ts",
		turnCount: 3,
		toolCount: 12,
		startedAt,
		updatedAt: startedAt,
	}));
	return (frame) => {
		const job = jobs[frame % 10];
		if (job) job.turnCount = frame;
		return buildWidgetLines(jobs, pi, WIDTH, false, frame);
	};
}
