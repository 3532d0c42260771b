/** What a run said and did. Long ones are shown in portions. */
import { useState } from "preact/hooks";
import type { ReportAgent, TranscriptEntry } from "../model/types.ts";
import { tickText } from "./page-text.ts";

const PORTION = 200;

const SIGNS: Record<TranscriptEntry["type"], string> = {
	text: "",
	tool: "⚒",
	asked: "?",
	answered: "↩",
	steered: "→",
	note: "·",
	error: "✗",
};

export function Transcript({ agent: { transcript }, origin }: { agent: ReportAgent; origin: number }) {
	const [shown, setShown] = useState(PORTION);
	const isShort = (transcript.at(-1)?.at ?? origin) - origin < 60_000;
	if (transcript.length === 0) return <p class="hint">Its log holds nothing.</p>;
	return (
		<ol class="transcript">
			{transcript.slice(0, shown).map((entry, index) => (
				<li key={index} class={`${entry.type} ${entry.type === "tool" && entry.isError ? "failed" : ""}`}>
					<time>{tickText(entry.at - origin, isShort ? 100 : 1_000)}</time>
					<span class="sign">{SIGNS[entry.type]}</span>
					<div>
						<p>{entry.text}</p>
						{entry.type === "tool" ? <ToolPart title="Arguments" text={entry.args} /> : null}
						{entry.type === "tool" ? <ToolPart title="Output" text={entry.output} /> : null}
					</div>
				</li>
			))}
			{transcript.length > shown ? (
				<li class="more">
					<button type="button" onClick={() => setShown(shown + PORTION * 5)}>
						Show more ({transcript.length - shown} left)
					</button>
				</li>
			) : null}
		</ol>
	);
}

function ToolPart({ title, text }: { title: string; text: string | undefined }) {
	if (text === undefined || text === "" || text === "{}") return null;
	return (
		<details>
			<summary>{title}</summary>
			<pre class="code">{text}</pre>
		</details>
	);
}
