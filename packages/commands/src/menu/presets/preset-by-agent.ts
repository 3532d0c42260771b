/**
 * A new preset from a description: an agent drafts it, the user approves it. The agent's text is untrusted: it is shown
 * in the editor, checked like any other, and never written unseen.
 */
import type { Outcome, RunSpec } from "@pi-subagents/core";
import { endText } from "@pi-subagents/progress";
import type { Menu } from "../../screen/navigation.ts";
import { breadcrumb } from "../../screen/navigation.ts";
import { takenNames } from "./preset-file.ts";
import { approveNew } from "./preset-new.ts";

const TITLE = breadcrumb("Agents", "Presets", "New from a description");
const WRITER = "general-purpose";
/** Read-only: it may explore the project but not change it. */
const TOOLS = ["read", "grep", "find", "ls"];

export async function draftByAgent(menu: Menu): Promise<void> {
	const { screen } = menu;
	const intro = "What should the agent do, what should it know, and what must it not do?";
	const wish = await screen.input({ title: TITLE, intro });
	if (wish === undefined || wish.trim() === "") return;
	const spec = await specFor(menu, wish.trim());
	const outcome = await screen.busy(breadcrumb(TITLE, "an agent is writing it"), (signal, show) =>
		run(menu, spec, signal, show),
	);
	if (outcome.status !== "completed") throw new Error(`No preset was written. ${endText(outcome)}.`);
	const isWritten = await approveNew(menu, `${TITLE}: review, edit and accept it`, fileIn(outcome.text));
	if (!isWritten) screen.notify("Nothing was written.");
}

async function specFor(menu: Menu, wish: string): Promise<RunSpec> {
	const task = taskFor(wish, await takenNames(menu));
	const request = { preset: WRITER, task, description: "Write a preset", isolated: true, tools: TOOLS };
	return (await menu.launcher.resolve({ ...request, runner: "session" }, menu.ctx)).spec;
}

const LINES_SHOWN = 4;

async function run(
	{ manager }: Menu,
	spec: RunSpec,
	signal: AbortSignal,
	show: (lines: readonly string[]) => void,
): Promise<Outcome> {
	const { store } = manager;
	const { id } = manager.spawn(spec, { launchedBy: "user" });
	let lines: readonly string[] = [];
	show(["Starting"]);
	const unfollow = store.follow(id, ({ event, line }) => {
		if (line !== undefined) {
			lines = [...lines, line].slice(-LINES_SHOWN);
			show(lines);
		}
		// The user is in this dialog and cannot answer another one.
		if (event.type === "agent_asked") queueMicrotask(() => manager.decline(id, "absent"));
	});
	const stop = () => manager.abort(id, { by: "user" });
	signal.addEventListener("abort", stop, { once: true });
	try {
		return await manager.wait(id);
	} finally {
		signal.removeEventListener("abort", stop);
		unfollow();
	}
}

/** More names would crowd out the task. */
const MAX_NAMES = 50;

function taskFor(wish: string, taken: readonly string[]): string {
	return `Write a preset for a sub-agent of pi: one markdown file, with YAML frontmatter and below it the system prompt.

This is what the user wants it for:
<wish>
${wish}
</wish>

Fields of the frontmatter, one \`key: value\` each:
- name: letters, digits and dashes, at most 64. Taken: ${taken.slice(0, MAX_NAMES).join(", ")}.
- description: one line that says when to choose it; a model reads it to decide.
- tools: the complete list, separated by commas, of read, grep, find, ls (looking only), bash, edit, write. Give it no more than it needs.
- model: inherit
- prompt_mode: append (it also keeps pi's usual instructions) or replace (the prompt is all it knows).
- max_turns: a number, only if there is a reason to limit it.
Use no other fields.

The prompt tells the agent who it is, how to work step by step, what to leave alone, and what its final message must hold. It sees nothing of the conversation that starts it, only its task. Be specific; leave out what any model knows. If it helps, look around in this project first, and change nothing. Do not ask; where something is open, choose.

Answer with the file alone, in one fenced block that begins with \`\`\`markdown.`;
}

/** Extracts the file from an answer that may contain more. It is validated later. */
export function fileIn(answer: string): string {
	const text = answer.replaceAll("\r\n", "\n").trim();
	const opening = /^(`{3,}|~{3,})[^\n]*\n\s*(?=---\n)/m.exec(text);
	if (opening) {
		const start = opening.index + opening[0].length;
		const end = text.lastIndexOf(`\n${opening[1]}`); // the prompt may contain fenced blocks
		return text.slice(start, end > start ? end : undefined).trim();
	}
	const bare = /^---\n/m.exec(text);
	return bare ? text.slice(bare.index) : text;
}
