/** The page's script: shows the report that the page holds, or follows the one that its server sends. */
import { render } from "preact";
import { reportAt } from "../model/at-time.ts";
import type { Report } from "../model/types.ts";
import { App } from "./app.tsx";
import { followLive, type LiveState } from "./live.ts";
import "./style.css";

/** How often running spans are redrawn. */
const TICK_MS = 1_000;

const NOTHING_YET: Report = {
	format: 1,
	title: "Agents",
	createdAt: 0,
	startedAt: 0,
	endedAt: 0,
	isFull: false,
	agents: [],
	usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 },
	criticalPath: [],
	problems: [],
};

const root = document.getElementById("app");
const data = document.getElementById("report")?.textContent;

function show(report: Report, live?: LiveState): void {
	if (root) render(<App report={report} live={live} />, root);
}

function startLive(): void {
	let report = NOTHING_YET;
	let state: LiveState = "connecting";
	let problem: string | undefined;
	const draw = () => {
		const shown = state === "live" ? reportAt(report, Date.now()) : report;
		document.title = shown.title;
		show(problem === undefined ? shown : { ...shown, problems: [...shown.problems, problem] }, state);
	};
	const ticking = setInterval(() => state === "live" && !document.hidden && draw(), TICK_MS);
	draw();
	const following = followLive({
		token: location.hash.slice(1),
		fetch: (...args) => fetch(...args),
		whenVisible,
		hidden,
		sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
		onReport(next) {
			report = next;
			problem = undefined;
			draw();
		},
		onState(next) {
			state = next;
			draw();
		},
		onProblem(text) {
			problem = text;
			draw();
		},
	});
	void following.finally(() => clearInterval(ticking));
}

function whenVisible(): Promise<void> {
	return new Promise((resolve) => {
		const look = () => {
			if (document.hidden) return;
			document.removeEventListener("visibilitychange", look);
			resolve();
		};
		document.addEventListener("visibilitychange", look);
		look();
	});
}

function hidden(): AbortSignal {
	const ending = new AbortController();
	const look = () => {
		if (!document.hidden) return;
		document.removeEventListener("visibilitychange", look);
		ending.abort();
	};
	document.addEventListener("visibilitychange", look);
	return ending.signal;
}

root?.replaceChildren();
if (data) show(JSON.parse(data));
else startLive();
