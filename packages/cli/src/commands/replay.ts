/** `replay`: a past tree of agents in the widget that pi shows, with the recorded timing. Loaded on first use. */
import { setTimeout as delay } from "node:timers/promises";
import { type AgentEvent, Store } from "@pi-subagents/core";
import { formatCost, formatCount, formatDuration, sanitize } from "@pi-subagents/progress";
import { AgentWidget, type PiTheme, piTheme, type WidgetClock } from "@pi-subagents/widget";
import { playbackOf } from "../replay/playback.ts";
import { type Context, Failure } from "./context.ts";
import type { Output } from "./output.ts";
import { runsAt } from "./runs-at.ts";

const DEFAULT_COLUMNS = 80;
const MAX_LINES = 30;
const SHORTEST_FRAME_MS = 33;

export async function replay(context: Context, [word]: readonly string[]): Promise<number> {
	const { stdout, flags, signal } = context;
	const speed = Number(flags.speed ?? 1);
	if (!(speed > 0) || !Number.isFinite(speed)) throw new Failure("--speed takes a number above 0, such as 4.", 2);
	const { runs } = await runsAt(context, word, { agentDir: context.agentDir });
	const events = playbackOf(runs);
	const store = new Store();
	if (stdout.isTTY) await playInTerminal(store, events, { context, speed });
	else printLines(store, events, stdout);
	if (signal.aborted) return 0;
	const cost = store.snapshot().records.reduce((sum, { usage }) => sum + usage.cost, 0);
	const took = formatDuration((events.at(-1)?.at ?? 0) - (events[0]?.at ?? 0));
	stdout.write(`Replayed ${formatCount(runs.length, "run")}: ${took}, ${formatCost(cost)}\n`);
	return 0;
}

/** Where nothing can be redrawn: one line for each step, at once. */
function printLines(store: Store, events: readonly AgentEvent[], stdout: Output): void {
	const origin = events[0]?.at ?? 0;
	store.subscribe(({ event, record: { name, type, outcome }, line }) => {
		const what = event.type === "agent_settled" ? outcome?.status : line;
		if (what === undefined) return;
		const time = `${((event.at - origin) / 1_000).toFixed(1)} s`;
		stdout.write(`${time.padStart(8)}  ${sanitize(name ?? type)}: ${sanitize(what)}\n`);
	});
	for (const event of events) store.dispatch(event);
}

/** In recorded time: the widget's clock runs as fast as the replay, so durations are those that were. */
async function playInTerminal(
	store: Store,
	events: readonly AgentEvent[],
	{ context: { stdout, signal, env }, speed }: { context: Context; speed: number },
): Promise<void> {
	const [began, origin] = [performance.now(), events[0]?.at ?? 0];
	const now = () => origin + (performance.now() - began) * speed;
	const clock: WidgetClock = {
		now,
		after(ms, work) {
			const timer = setTimeout(work, Math.max(SHORTEST_FRAME_MS, ms / speed));
			return () => clearTimeout(timer);
		},
	};
	let drawn = 0;
	const draw = () => {
		const lines = widget.render(Math.max(20, stdout.columns ?? DEFAULT_COLUMNS));
		stdout.write(`${drawn > 0 ? `\u001b[${drawn}A` : ""}\r\u001b[J${lines.map((line) => `${line}\n`).join("")}`);
		drawn = lines.length;
	};
	const maxLines = Math.min(MAX_LINES, Math.max(4, (stdout.rows ?? MAX_LINES) - 2));
	const theme = env.NO_COLOR ? {} : { theme: piTheme(COLORS) };
	const widget = new AgentWidget(store, { clock, requestRender: draw, maxLines, ...theme });
	stdout.write("\u001b[?25l");
	try {
		for (const event of events) {
			const wait = (event.at - now()) / speed;
			if (wait >= 1) await delay(wait, undefined, { signal }).catch(() => undefined); // the user ended it
			if (signal.aborted) return;
			store.dispatch(event);
		}
		widget.invalidate();
		draw();
	} finally {
		widget.dispose();
		stdout.write("\u001b[?25h");
	}
}

const CODES: Partial<Record<Parameters<PiTheme["fg"]>[0], number>> = {
	accent: 36,
	success: 32,
	error: 31,
	warning: 33,
	muted: 90,
	dim: 2,
	customMessageLabel: 35,
};

/** The terminal's own colours, in place of those of a theme of pi. */
const COLORS: PiTheme = {
	fg: (color, text) => (CODES[color] === undefined ? text : `\u001b[${CODES[color]}m${text}\u001b[0m`),
	bold: (text) => `\u001b[1m${text}\u001b[0m`,
};
