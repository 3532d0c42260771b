/** Everything about the selected run: figures, what went wrong, the answer, its changes, what it said and did. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ReportAgent } from "../model/types.ts";
import {
	durationText,
	formatCost,
	formatTokens,
	KIND_TEXTS,
	launcherText,
	STATUS_SIGNS,
	titleOf,
	verificationText,
} from "./page-text.ts";
import { Transcript } from "./transcript.tsx";
import { timeByKind } from "./view.ts";

interface DetailsProps {
	agent: ReportAgent;
	origin: number;
	/** With the agents below it. */
	cost: number;
	isFull: boolean;
	onBack: () => void;
}

export function Details({ agent, origin, cost, isFull, onBack }: DetailsProps) {
	const { status, description, error, stoppedBy, task, answer, structured, verification } = agent;
	return (
		<section class="details" aria-label="Details" tabIndex={-1}>
			<header>
				<button type="button" class="back" onClick={onBack}>
					‹ Agents
				</button>
				<h2>
					<span class={`pill ${status}`}>
						{STATUS_SIGNS[status]} {status}
					</span>{" "}
					{titleOf(agent)}
				</h2>
				<p class="about">{description}</p>
			</header>
			{error === undefined ? null : <pre class="bad">{error}</pre>}
			{verification?.tail === undefined ? null : (
				<Part title="What the check printed">
					<pre class="code">{verification.tail}</pre>
				</Part>
			)}
			{stoppedBy === undefined ? null : <p class="warn">Stopped by {stoppedBy}</p>}
			<Breakdown agent={agent} />
			<Facts agent={agent} origin={origin} cost={cost} />
			<Part title="Task">
				<pre>{task}</pre>
			</Part>
			{answer === undefined ? null : (
				<Part title={status === "completed" ? "Answer" : "Partial answer"}>
					<pre>{answer}</pre>
				</Part>
			)}
			{structured === undefined ? null : (
				<Part title="Structured data">
					{structured.ok ? (
						<pre class="code">{JSON.stringify(structured.data, undefined, 2)}</pre>
					) : (
						<ul class="bad">
							{structured.errors.map(({ path, message }) => (
								<li key={path}>
									<code>{path || "/"}</code> {message}
								</li>
							))}
						</ul>
					)}
				</Part>
			)}
			<Worktree agent={agent} />
			<Part title="Transcript">
				<Transcript key={agent.id} agent={agent} origin={origin} />
				{isFull ? null : <p class="hint">Tool output and file contents are only in a full report.</p>}
			</Part>
		</section>
	);
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
	const [isOpen, setOpen] = useState(true);
	return (
		<div class="part">
			<h3>
				<button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
					<span class={`caret ${isOpen ? "open" : ""}`}>›</span> {title}
				</button>
			</h3>
			{isOpen ? children : null}
		</div>
	);
}

function Breakdown({ agent: { spans } }: { agent: ReportAgent }) {
	const times = timeByKind(spans);
	const all = times.reduce((sum, [, ms]) => sum + ms, 0);
	if (all === 0) return null;
	return (
		<div class="breakdown">
			<div class="stack" aria-hidden="true">
				{times.map(([kind, ms]) => (
					<span key={kind} class={`span-${kind}`} style={{ flexGrow: ms / all }} />
				))}
			</div>
			<ul>
				{times.map(([kind, ms]) => (
					<li key={kind}>
						<i class={`span-${kind}`} /> {KIND_TEXTS[kind]} <b>{durationText(ms)}</b>
					</li>
				))}
			</ul>
		</div>
	);
}

function Facts({ agent, origin, cost }: Pick<DetailsProps, "agent" | "origin" | "cost">) {
	const { usage, queuedAt, startedAt, endedAt, turns, toolUses, model, runner, cwd, id, launchedBy } = agent;
	const tokens = `${formatTokens(usage.input + usage.cacheRead + usage.cacheWrite)} in, ${formatTokens(usage.output)} out`;
	const facts: [string, string][] = [
		["Duration", durationText(endedAt - (startedAt ?? queuedAt))],
		["Started", `${durationText((startedAt ?? queuedAt) - origin)} after the first`],
		[
			"Cost",
			cost === usage.cost ? formatCost(cost) : `${formatCost(usage.cost)} · ${formatCost(cost)} with its agents`,
		],
		["Tokens", usage.cacheRead > 0 ? `${tokens} · ${formatTokens(usage.cacheRead)} from the cache` : tokens],
		["Turns", `${turns} · ${toolUses} tool ${toolUses === 1 ? "call" : "calls"}`],
		["Model", model],
		["Runs", `${agent.isBackground ? "in the background" : "while its caller waits"} · ${runner}`],
		...(agent.verification ? [["Check", verificationText(agent.verification)] satisfies [string, string]] : []),
		...(agent.phase === undefined ? [] : [["Phase", agent.phase] satisfies [string, string]]),
		["Launched by", launcherText(launchedBy)],
		["Directory", cwd],
		["Id", id],
	];
	return (
		<dl class="facts">
			{facts.map(([name, value]) => (
				<div key={name}>
					<dt>{name}</dt>
					<dd>{value}</dd>
				</div>
			))}
		</dl>
	);
}

function Worktree({ agent: { worktree, diff } }: { agent: ReportAgent }) {
	if (!worktree) return null;
	const { branch, files, insertions, deletions, merge, problems = [] } = worktree;
	return (
		<Part title="Worktree">
			<p>
				{files} {files === 1 ? "file" : "files"} <span class="added">+{insertions}</span>{" "}
				<span class="removed">−{deletions}</span>
				{branch === undefined ? null : (
					<>
						{" "}
						on <code>{branch}</code>
					</>
				)}
			</p>
			{merge === undefined ? null : <pre class="code">{merge}</pre>}
			{problems.map((problem) => (
				<p key={problem} class="warn">
					{problem}
				</p>
			))}
			{diff === undefined ? null : (
				<pre class="code diff">
					{diff.split("\n").map((line, index) => (
						<span key={index} class={diffClass(line)}>{`${line}\n`}</span>
					))}
				</pre>
			)}
		</Part>
	);
}

function diffClass(line: string): string {
	if (/^(?:\+\+\+|---|diff |index )/.test(line)) return "head";
	if (line.startsWith("@@")) return "hunk";
	if (line.startsWith("+")) return "added";
	return line.startsWith("-") ? "removed" : "";
}
