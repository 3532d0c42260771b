/** The lane of one run: its spans on the time axis, drawn on a canvas, so that thousands cost no elements. */
import { useEffect, useRef } from "preact/hooks";
import type { PathStep, ReportAgent, Span, SpanKind } from "../model/types.ts";
import type { View } from "./view.ts";

interface LaneProps {
	agent: ReportAgent;
	/** The steps of the critical path in this run. */
	path: readonly PathStep[];
	view: View;
	width: number;
	height: number;
	/** Where the axis has its marks. */
	ticks: readonly number[];
	/** Changes when the colours do. */
	theme: string;
	onHover: (span: Span | undefined, x: number, y: number) => void;
}

/** Later ones are drawn over earlier ones. */
const LAYERS: SpanKind[] = ["queued", "agents", "model", "compaction", "verification", "retry", "tool", "person"];

export function Lane({ agent, path, view, ticks, width, height, theme, onHover }: LaneProps) {
	const canvas = useRef<HTMLCanvasElement>(null);
	useEffect(() => {
		if (canvas.current) draw(canvas.current, { agent, path, view, ticks, width, height });
	}, [agent, path, view.from, view.to, width, height, theme]);
	const hover = (event: MouseEvent) => {
		const time = view.from + (event.offsetX / width) * (view.to - view.from);
		const slack = ((view.to - view.from) / width) * 2;
		onHover(spanAt(agent.spans, time, slack), event.clientX, event.clientY);
	};
	return <canvas ref={canvas} class="lane" onMouseMove={hover} onMouseLeave={() => onHover(undefined, 0, 0)} />;
}

/** The topmost, as drawn. */
function spanAt(spans: readonly Span[], time: number, slack: number): Span | undefined {
	const hit = spans.filter(({ start, end }) => start - slack <= time && time <= end + slack);
	return hit.sort((a, b) => LAYERS.indexOf(b.kind) - LAYERS.indexOf(a.kind))[0];
}

type Drawing = Pick<LaneProps, "agent" | "path" | "view" | "ticks" | "width" | "height">;

function draw(canvas: HTMLCanvasElement, { agent, path, view, ticks, width, height }: Drawing): void {
	const ratio = globalThis.devicePixelRatio || 1;
	canvas.width = Math.max(1, Math.round(width * ratio));
	canvas.height = Math.round(height * ratio);
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	const brush = canvas.getContext("2d");
	if (!brush) return;
	brush.scale(ratio, ratio);
	const colours = getComputedStyle(canvas);
	const colour = (name: string) => colours.getPropertyValue(`--${name}`).trim();
	const x = (time: number) => ((time - view.from) / (view.to - view.from || 1)) * width;
	const bar = (from: number, to: number, fill: string, [top, size]: [number, number]) => {
		const left = Math.max(x(from), -2);
		const right = Math.min(Math.max(x(to), x(from) + 1.5), width + 2);
		if (right < 0 || left > width) return;
		brush.fillStyle = fill;
		brush.beginPath();
		brush.roundRect(left, top, Math.max(right - left - 0.5, 1), size, Math.min(2.5, (right - left) / 2));
		brush.fill();
	};
	const middle = height / 2;
	brush.fillStyle = colour("grid");
	for (const tick of ticks) brush.fillRect(Math.round(x(tick)), 0, 1, height);
	bar(agent.queuedAt, agent.endedAt, colour("extent"), [middle - 9, 18]);
	for (const layer of LAYERS)
		for (const { kind, start, end, error } of agent.spans) {
			if (kind !== layer) continue;
			const place: [number, number] = kind === "agents" || kind === "queued" ? [middle - 3, 6] : [middle - 7, 14];
			bar(start, end, colour(`span-${kind}`), place);
			if (error !== undefined) bar(start, end, colour("bad"), [middle + 4, 3]);
		}
	for (const { start, end } of path) bar(start, end, colour("path"), [height - 3, 2]);
}
