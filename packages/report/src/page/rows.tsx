/** The tree beside its lanes. Only the rows in sight exist, so any number of agents stays usable. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PathStep, Span } from "../model/types.ts";
import { Lane } from "./lane.tsx";
import { durationText, formatCost, STATUS_SIGNS, titleOf } from "./page-text.ts";
import type { View, VisibleRow } from "./view.ts";

export interface RowsProps {
	rows: readonly VisibleRow[];
	/** There is no agent at all. */
	isEmpty: boolean;
	selected: string | undefined;
	view: View;
	ticks: readonly number[];
	laneWidth: number;
	isNarrow: boolean;
	theme: string;
	paths: ReadonlyMap<string, readonly PathStep[]>;
	costs: ReadonlyMap<string, number>;
	/** It was clicked. */
	onSelect: (id: string) => void;
	onToggle: (id: string) => void;
	onKey: (event: KeyboardEvent) => void;
	onHover: (span: Span | undefined, x: number, y: number) => void;
}

/** More than fit, so that scrolling shows no gaps. */
const SPARE = 6;

export function Rows(props: RowsProps) {
	const { rows, isEmpty, selected, isNarrow } = props;
	const height = isNarrow ? 58 : 32;
	const box = useRef<HTMLDivElement>(null);
	const [window, setWindow] = useState({ top: 0, height: 600 });
	const look = () => {
		if (box.current) setWindow({ top: box.current.scrollTop, height: box.current.clientHeight });
	};
	useLayoutEffect(look, []);
	useEffect(() => {
		const observer = new ResizeObserver(look);
		if (box.current) observer.observe(box.current);
		return () => observer.disconnect();
	}, []);
	const index = rows.findIndex(({ agent }) => agent.id === selected);
	useEffect(() => {
		if (box.current && index >= 0) scrollTo(box.current, index * height, height);
	}, [index, height]);
	const first = Math.max(0, Math.floor(window.top / height) - SPARE);
	const shown = rows.slice(first, Math.ceil((window.top + window.height) / height) + SPARE);
	return (
		<div
			ref={box}
			class="rows"
			role="tree"
			aria-label="Agents"
			tabIndex={0}
			aria-activedescendant={index >= 0 ? `row-${selected}` : undefined}
			onScroll={look}
			onKeyDown={props.onKey}
			onClick={(event) => {
				const row = (event.target as Element).closest("[role=treeitem]");
				if (row) props.onSelect(row.id.slice("row-".length));
			}}
		>
			<div class="all" style={{ height: `${rows.length * height}px` }}>
				{shown.map((row, offset) => (
					<Row key={row.agent.id} {...props} row={row} top={(first + offset) * height} height={height} />
				))}
			</div>
			{rows.length === 0 ? <p class="none">{isEmpty ? "No agents yet." : "No agent matches."}</p> : null}
		</div>
	);
}

function scrollTo(box: HTMLElement, top: number, height: number): void {
	if (top < box.scrollTop) box.scrollTop = top;
	else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
}

type RowProps = RowsProps & { row: VisibleRow; top: number; height: number };

function Row({ row, top, height, selected, isNarrow, costs, paths, onToggle, ...lane }: RowProps) {
	const { agent, hasChildren, isOpen } = row;
	const { id, status, depth, description, phase, queuedAt, endedAt } = agent;
	const cost = costs.get(id) ?? 0;
	return (
		<div
			id={`row-${id}`}
			class={`row ${id === selected ? "selected" : ""}`}
			role="treeitem"
			aria-level={depth}
			tabIndex={-1}
			aria-selected={id === selected}
			aria-expanded={hasChildren ? isOpen : undefined}
			style={{ top: `${top}px`, height: `${height}px` }}
		>
			<div class="cell" style={{ paddingLeft: `${8 + (depth - 1) * 14}px` }}>
				<button
					type="button"
					class={`caret ${hasChildren ? "" : "leaf"} ${isOpen ? "open" : ""}`}
					tabIndex={-1}
					aria-hidden="true"
					onClick={(event) => {
						event.stopPropagation();
						onToggle(id);
					}}
				>
					{hasChildren ? "›" : ""}
				</button>
				<span class={`sign ${status}`} title={status}>
					{STATUS_SIGNS[status]}
				</span>
				<span class="name">
					{phase === undefined ? null : <span class="about">{phase} · </span>}
					<b>{titleOf(agent)}</b> <span class="about">{description}</span>
				</span>
				<span class="figures">
					{cost > 0 ? <span class="cost">{formatCost(cost)}</span> : null}
					<span>{durationText(endedAt - queuedAt)}</span>
				</span>
			</div>
			<Lane
				agent={agent}
				path={paths.get(id) ?? NO_STEPS}
				view={lane.view}
				ticks={lane.ticks}
				width={lane.laneWidth}
				height={isNarrow ? 26 : height}
				theme={lane.theme}
				onHover={lane.onHover}
			/>
		</div>
	);
}

const NO_STEPS: readonly PathStep[] = [];
