/** The whole page: its state, its keys, and how the parts are laid out. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PathStep, Report, Span } from "../model/types.ts";
import { SPAN_KINDS } from "../model/types.ts";
import { Details } from "./details.tsx";
import type { LiveState } from "./live.ts";
import { durationText, formatCost, formatTokens, KIND_TEXTS, LIVE_TEXTS, tickText } from "./page-text.ts";
import { Rows } from "./rows.tsx";
import { costsBelow, panned, ticksOf, type View, visibleRows, zoomed } from "./view.ts";

interface Hover {
	span: Span;
	x: number;
	y: number;
}

/** As wide as the tree in the style sheet. */
const TREE_WIDTH = 330;
const NARROW = 640;
/** A label with less room than this would be cut off. */
const LABEL_WIDTH = 36;

/** `live` says how it is fed; absent in a file. */
export function App({ report, live }: { report: Report; live?: LiveState | undefined }) {
	const { agents, startedAt, endedAt } = report;
	const all: View = { from: startedAt, to: Math.max(endedAt, startedAt + 1) };
	const [zoom, setZoom] = useState<View>();
	const view = zoom ?? all;
	const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
	const [search, setSearch] = useState("");
	const [chosen, setSelected] = useState<string>();
	const selected = chosen ?? agents[0]?.id; // a live page may begin before the first agent
	const [isOpen, setOpen] = useState(false);
	const [hover, setHover] = useState<Hover>();
	const [theme, setTheme] = useTheme();
	const lanes = useRef<HTMLDivElement>(null);
	const searchBox = useRef<HTMLInputElement>(null);
	const [width, setWidth] = useState(800);
	useEffect(() => {
		const observer = new ResizeObserver(() => setWidth(lanes.current?.clientWidth ?? 800));
		if (lanes.current) observer.observe(lanes.current);
		return () => observer.disconnect();
	}, []);
	const isNarrow = width < NARROW;
	const laneWidth = Math.max(60, isNarrow ? width - 24 : width - TREE_WIDTH - 16);
	const ticks = ticksOf(view, startedAt, Math.floor(laneWidth / 80));
	const rows = useMemo(() => visibleRows(agents, { closed, search }), [agents, closed, search]);
	const costs = useMemo(() => costsBelow(agents), [agents]);
	const paths = useMemo(() => Map.groupBy(report.criticalPath, ({ id }: PathStep) => id), [report]);
	const agent = agents.find(({ id }) => id === selected);

	const toggle = (id: string) => setClosed(closed.has(id) ? without(closed, id) : new Set([...closed, id]));
	const zoomBy = (factor: number, around?: number) => setZoom(zoomed(view, all, factor, around));
	const pan = (share: number) => setZoom(panned(view, all, share));
	const move = (by: number) => {
		const index = rows.findIndex((row) => row.agent.id === selected);
		const next = rows[Math.min(Math.max(index + by, 0), rows.length - 1)];
		if (next) setSelected(next.agent.id);
	};
	/** As in every tree: left closes or goes up, right opens or goes down. */
	const sideways = (isRight: boolean) => {
		const row = rows.find((each) => each.agent.id === selected);
		if (!row) return;
		if (row.hasChildren && row.isOpen !== isRight) toggle(row.agent.id);
		else if (isRight && row.hasChildren) move(1);
		else if (!isRight && row.agent.parentId !== undefined) setSelected(row.agent.parentId);
	};
	const keys: Record<string, () => void> = {
		ArrowDown: () => move(1),
		ArrowUp: () => move(-1),
		PageDown: () => move(10),
		PageUp: () => move(-10),
		Home: () => move(-rows.length),
		End: () => move(rows.length),
		ArrowRight: () => sideways(true),
		ArrowLeft: () => sideways(false),
		Enter: () => setOpen(true),
		"+": () => zoomBy(0.5),
		"=": () => zoomBy(0.5),
		"-": () => zoomBy(2),
		"0": () => setZoom(undefined),
		",": () => pan(-0.25),
		".": () => pan(0.25),
		"/": () => searchBox.current?.focus(),
	};
	const onKey = (event: KeyboardEvent) => {
		const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
		if (!act) return;
		event.preventDefault();
		act();
	};
	useEffect(() => {
		const onEscape = (event: KeyboardEvent) => {
			if (event.key !== "Escape") return;
			setOpen(false);
			setSearch("");
			document.querySelector<HTMLElement>(".rows")?.focus();
		};
		document.addEventListener("keydown", onEscape);
		document.querySelector<HTMLElement>(".rows")?.focus();
		return () => document.removeEventListener("keydown", onEscape);
	}, []);
	useEffect(() => {
		if (isOpen) document.querySelector<HTMLElement>(".details")?.focus();
	}, [isOpen]);
	const onWheel = (event: WheelEvent) => {
		if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
		event.preventDefault();
		if (event.shiftKey) return pan(Math.sign(event.deltaY || event.deltaX) * 0.1);
		const x = event.clientX - ((lanes.current?.getBoundingClientRect().left ?? 0) + width - laneWidth - 12);
		zoomBy(event.deltaY > 0 ? 1.25 : 0.8, view.from + (x / laneWidth) * (view.to - view.from));
	};

	return (
		<div class={`page ${isOpen ? "open" : ""} ${isNarrow ? "narrow" : ""}`}>
			<Top report={report} live={live}>
				<input
					ref={searchBox}
					type="search"
					placeholder="Search  /"
					aria-label="Search agents, tasks and transcripts"
					value={search}
					onInput={(event) => setSearch(event.currentTarget.value)}
					onKeyDown={(event) => {
						if (event.key === "Enter") document.querySelector<HTMLElement>(".rows")?.focus();
					}}
				/>
				<span class="buttons">
					<button type="button" title="Zoom out (-)" onClick={() => zoomBy(2)}>
						−
					</button>
					<button type="button" title="Show all (0)" onClick={() => setZoom(undefined)}>
						Fit
					</button>
					<button type="button" title="Zoom in (+)" onClick={() => zoomBy(0.5)}>
						+
					</button>
					<button type="button" onClick={() => setClosed(closed.size > 0 ? new Set() : parentsIn(report))}>
						{closed.size > 0 ? "Expand" : "Collapse"}
					</button>
					<button type="button" title="Light or dark" aria-label="Light or dark" onClick={setTheme}>
						◐
					</button>
				</span>
			</Top>
			<main>
				<div class="chart" ref={lanes} onWheel={onWheel}>
					<Axis view={view} ticks={ticks} origin={startedAt} width={laneWidth} />
					<Rows
						rows={rows}
						isEmpty={agents.length === 0}
						selected={selected}
						view={view}
						ticks={ticks}
						laneWidth={laneWidth}
						isNarrow={isNarrow}
						theme={theme}
						paths={paths}
						costs={costs}
						onSelect={(id) => {
							setSelected(id);
							if (isNarrow) setOpen(true);
						}}
						onToggle={toggle}
						onKey={onKey}
						onHover={(span, x, y) => setHover(span && { span, x, y })}
					/>
					<Legend />
				</div>
				{agent ? (
					<Details
						key={agent.id}
						agent={agent}
						origin={startedAt}
						cost={costs.get(agent.id) ?? 0}
						isFull={report.isFull}
						onBack={() => {
							setOpen(false);
							document.querySelector<HTMLElement>(".rows")?.focus();
						}}
					/>
				) : null}
			</main>
			{hover ? <Tip {...hover} /> : null}
		</div>
	);
}

function Top({ report, live, children }: { report: Report; live: LiveState | undefined; children: ComponentChildren }) {
	const { agents, usage, startedAt, endedAt, problems, title } = report;
	const failed = agents.filter(({ status }) => status === "failed").length;
	const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
	return (
		<header class="top">
			<h1>{title}</h1>
			<p class="sums">
				{live === undefined ? null : (
					<span class={`live ${live}`} role="status">
						{LIVE_TEXTS[live]}
					</span>
				)}
				<span>{agents.length === 1 ? "1 agent" : `${agents.length} agents`}</span>
				<span>{durationText(endedAt - startedAt)}</span>
				<span>{formatCost(usage.cost)}</span>
				<span>{formatTokens(tokens)} tokens</span>
				{failed > 0 ? <span class="bad">{failed} failed</span> : null}
				{problems.length > 0 ? (
					<span class="warn" title={problems.join("\n")}>{`${problems.length} unreadable`}</span>
				) : null}
			</p>
			<div class="tools">{children}</div>
		</header>
	);
}

interface AxisProps {
	view: View;
	ticks: readonly number[];
	origin: number;
	width: number;
}

function Axis({ view, ticks, origin, width }: AxisProps) {
	const step = (ticks[1] ?? view.to) - (ticks[0] ?? view.from);
	const leftOf = (at: number) => ((at - view.from) / (view.to - view.from)) * width;
	return (
		<div class="axis" aria-hidden="true">
			<div style={{ width: `${width}px` }}>
				{ticks.map((at) => (
					<span key={at} style={{ left: `${leftOf(at)}px` }}>
						{leftOf(at) < width - LABEL_WIDTH ? tickText(at - origin, step) : ""}
					</span>
				))}
			</div>
		</div>
	);
}

function Legend() {
	return (
		<footer class="legend">
			{SPAN_KINDS.map((kind) => (
				<span key={kind}>
					<i class={`span-${kind}`} /> {KIND_TEXTS[kind]}
				</span>
			))}
			<span>
				<i class="path" /> critical path
			</span>
			<span class="keys">↑↓ choose · ←→ fold · Enter details · + − 0 zoom · , . move · / search</span>
		</footer>
	);
}

function Tip({ span, x, y }: Hover) {
	const { kind, label, start, end, error, model, usage } = span;
	const isLeft = x > innerWidth / 2;
	const place = isLeft ? { right: `${innerWidth - x + 12}px` } : { left: `${x + 12}px` };
	return (
		<div class="tip" role="tooltip" style={{ top: `${Math.min(y + 12, innerHeight - 90)}px`, ...place }}>
			<b>
				{KIND_TEXTS[kind]} · {durationText(end - start)}
			</b>
			<span>{label}</span>
			{model === undefined ? null : <span class="about">{model}</span>}
			{usage === undefined ? null : <span class="about">{formatCost(usage.cost)}</span>}
			{error === undefined ? null : <span class="bad">{error}</span>}
		</div>
	);
}

/** As the system says, until the button says otherwise. Applied before the lanes are drawn in its colours. */
function useTheme(): [string, () => void] {
	const query = matchMedia("(prefers-color-scheme: dark)");
	const [theme, setTheme] = useState(() => applied(query.matches));
	useEffect(() => {
		const follow = () => setTheme(applied(query.matches));
		query.addEventListener("change", follow);
		return () => query.removeEventListener("change", follow);
	}, []);
	return [theme, () => setTheme(applied(theme !== "dark"))];
}

function applied(isDark: boolean): string {
	const theme = isDark ? "dark" : "light";
	document.documentElement.dataset.theme = theme;
	return theme;
}

function parentsIn({ agents }: Report): Set<string> {
	return new Set(agents.flatMap(({ parentId }) => parentId ?? []));
}

function without(set: ReadonlySet<string>, id: string): Set<string> {
	return new Set([...set].filter((each) => each !== id));
}
