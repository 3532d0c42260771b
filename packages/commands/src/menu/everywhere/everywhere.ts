/** The "Everywhere" level of the menu: the agents of all projects and sessions, as `pi-subagents list` shows them. */

import { sanitizeBlock } from "@pi-subagents/progress";
import {
	answerRun,
	findRunsDirs,
	listRuns,
	type RunOverview,
	readResult,
	runTextOf,
	stopRun,
} from "@pi-subagents/runs";
import type { Item } from "@pi-subagents/widget/dialogs";
import { breadcrumb, type Menu, runMenu } from "../../screen/navigation.ts";

const TITLE = "Everywhere";
const EMPTY = "No agents have run yet, in this project or any other.";
const GROUPS = { "needs-input": "needs input", working: "working", done: "done" } as const;
const TONES = { "needs-input": "warn", working: "accent", done: "muted" } as const;

export function everywhereMenu(menu: Menu): Promise<void> {
	let runs: readonly RunOverview[] = [];
	return runMenu(
		menu.screen,
		async () => {
			runs = await look(menu);
			const items = runs.map((run) => runItem(run, menu.clock.now()));
			return { title: breadcrumb("Agents", TITLE), empty: EMPTY, items: () => items, isSearchable: true };
		},
		async (dir) => {
			const run = runs.find((each) => each.dir === dir);
			if (run) await runMenuOf(menu, run);
		},
	);
}

async function look({ host, ctx, clock }: Menu): Promise<readonly RunOverview[]> {
	const { agentDir } = host;
	const dirs = await findRunsDirs({ agentDir, cwd: ctx.cwd });
	return (await listRuns(dirs, { now: clock.now(), agentDir })).runs;
}

/** Pure. */
export function runItem(run: RunOverview, at: number): Item {
	const { icon, preset, who, about, now, age } = runTextOf(run, at);
	const { group } = run.state;
	return {
		value: run.dir,
		mark: { text: icon, tone: TONES[group] },
		label: preset,
		tag: { text: who },
		about,
		end: age,
		note: `${GROUPS[group]}: ${now}; ${run.project}`,
	};
}

type Action = "read" | "answer" | "stop" | "copy";

/** Pure. Only an agent with its own process takes orders from another pi. */
export function runActions({ state, hasOwnProcess, dir }: RunOverview): (Item & { value: Action })[] {
	const takesOrders = state.group !== "done" && hasOwnProcess;
	return [
		...(takesOrders && state.group === "needs-input" && state.question.id !== undefined
			? [{ value: "answer" as const, label: "Answer", about: state.question.question }]
			: []),
		{ value: "read", label: "Details", about: "task and result" },
		...(takesOrders ? [{ value: "stop" as const, label: "Stop", about: "its output so far is kept" }] : []),
		{ value: "copy", label: "Copy the path of its files", about: dir },
	];
}

function runMenuOf(menu: Menu, run: RunOverview): Promise<void> {
	const { who, now, reach } = runTextOf(run, menu.clock.now());
	return runMenu(
		menu.screen,
		() => ({
			title: breadcrumb("Agents", TITLE, who),
			intro: `${now}\n${run.project}\n${reach}`,
			items: () => runActions(run),
		}),
		(action) => act(menu, run, action as Action),
	);
}

async function act({ screen }: Menu, run: RunOverview, action: Action): Promise<void> {
	const { dir, agentId, state, task, result } = run;
	switch (action) {
		case "read": {
			const answer = result?.finalText;
			const blocks = [
				{ text: sanitizeBlock(task) },
				...(answer === undefined ? [] : [{ text: sanitizeBlock(answer) }]),
			];
			return screen.read(agentId, blocks);
		}
		case "copy":
			return screen.copy(dir);
		case "answer": {
			if (state.group !== "needs-input" || state.question.id === undefined) return;
			const text = await screen.input({ title: `Answer ${agentId}`, intro: sanitizeBlock(state.question.question) });
			if (text === undefined || text.trim() === "") return;
			await answerRun(dir, state.question.id, text);
			return screen.notify(`Answered ${agentId}.`);
		}
		case "stop": {
			if (await readResult(dir)) return screen.notify(`${agentId} has already ended.`);
			const decision = { title: `Stop ${agentId}?`, intro: task, yes: "Stop it", no: "Let it run" };
			if (!(await screen.confirm(decision))) return;
			await stopRun(dir, "stopped from another pi");
			return screen.notify(`Asked ${agentId} to stop.`);
		}
		default:
			throw new Error(`unknown action: ${JSON.stringify(action satisfies never)}`);
	}
}
