/** An extension beside ours that measures pi from within. It must be loaded before ours, to see our timers and our frames. */

/** What `/sample` writes, as one line of `samples.jsonl` in the home directory. */
export interface Sample {
	/** How many agents have settled, at whatever depth. */
	agents: number;
	/** After garbage was collected. */
	heapMegabytes: number;
	rssMegabytes: number;
	/** What keeps the process alive, by kind. */
	resources: Record<string, number>;
	/** Open files and sockets; absent where that cannot be seen. */
	descriptors?: number;
	/** On the process and its streams. */
	listeners: number;
	/** Timers of ours that are to fire. */
	timers: number;
	/** What pi has warned of, such as too many listeners. */
	warnings: string[];
	/** Frames of our tree since the last sample, and how long they took to make. */
	frames: { count: number; medianMs: number; worstMs: number };
	/** How late the event loop was since the last sample. */
	loopDelay: { medianMs: number; p99Ms: number };
	/** What the session holds in memory. */
	session: { entries: number; megabytes: number };
}

export const longWatcher = `
import { appendFileSync, readdirSync, existsSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");
const timers = new Set(); // weak, or they would be kept with all they hold
const warnings = [];
const delay = monitorEventLoopDelay({ resolution: 5 });
let frames = [];
let agents = 0;

process.on("warning", (warning) => warnings.push(warning.message));
for (const name of ["setTimeout", "setInterval", "setImmediate"]) {
	const make = globalThis[name];
	globalThis[name] = Object.assign(function (...args) {
		const timer = make.apply(this, args);
		if (new Error().stack.includes("impl.cjs")) timers.add(new WeakRef(timer));
		return timer;
	}, make);
}

/** What an agent leaves in files is written behind its back. */
async function untilWritten() {
	while (process.getActiveResourcesInfo().some((kind) => kind.startsWith("FSReq"))) await new Promise((resolve) => setTimeout(resolve, 10));
}

function timersLeft() {
	for (const ref of timers) {
		const timer = ref.deref();
		if (!timer || timer._destroyed) timers.delete(ref);
	}
	return timers.size;
}

function framesSince() {
	const times = frames.sort((one, other) => one - other);
	frames = [];
	return { count: times.length, medianMs: times[times.length >> 1] ?? 0, worstMs: times.at(-1) ?? 0 };
}

function delaySince() {
	const since = { medianMs: delay.percentile(50) / 1e6, p99Ms: delay.percentile(99) / 1e6 };
	delay.reset();
	return since;
}

function sampled(ctx) {
	const delayed = delaySince(); // first of all: collecting garbage takes its time
	collectGarbage();
	const { heapUsed, rss } = process.memoryUsage();
	const entries = ctx.sessionManager.getEntries();
	const emitters = [process, process.stdin, process.stdout, process.stderr];
	return {
		agents,
		heapMegabytes: heapUsed / 2 ** 20,
		rssMegabytes: rss / 2 ** 20,
		resources: Object.fromEntries(Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (kind) => kind)).map(([kind, all]) => [kind, all.length])),
		...(existsSync("/proc/self/fd") ? { descriptors: readdirSync("/proc/self/fd").length } : {}),
		listeners: emitters.flatMap((emitter) => emitter.eventNames().map((name) => emitter.listenerCount(name))).reduce((sum, count) => sum + count, 0),
		timers: timersLeft(),
		warnings,
		frames: framesSince(),
		loopDelay: delayed,
		session: { entries: entries.length, megabytes: entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0) / 2 ** 20 },
	};
}

function timed(component) {
	const render = component.render.bind(component);
	let drawn;
	return Object.assign(component, {
		render(width) {
			const from = performance.now();
			const lines = render(width);
			if (lines !== drawn) frames.push(performance.now() - from); // else pi has drawn something else
			drawn = lines;
			return lines;
		},
	});
}

export default (pi) => {
	delay.enable();
	for (const what of ["completed", "failed"]) pi.events.on("subagents:" + what, () => void agents++);
	pi.on("session_start", (_event, { ui, mode }) => {
		const setWidget = ui.setWidget.bind(ui);
		if (mode === "tui")
			ui.setWidget = (key, content, options) =>
				setWidget(key, typeof content === "function" ? (tui, theme) => timed(content(tui, theme)) : content, options);
	});
	pi.registerCommand("sample", {
		async handler(_args, ctx) {
			await ctx.waitForIdle();
			await untilWritten();
			appendFileSync(join(process.env.HOME, "samples.jsonl"), JSON.stringify(sampled(ctx)) + "\\n");
		},
	});
};
`;
