/**
 * `@name message` at the start of a text: whom it addresses and what that means, and the names to complete. Pure.
 * Names with a slash or a dot, and names of existing files, are left to pi, which attaches files that way.
 */
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import type { AgentRecord } from "@pi-subagents/core";
import { nameKey } from "@pi-subagents/core/internal/base";
import type { Preset } from "@pi-subagents/presets";
import { isSettled, lookOf, sanitize } from "@pi-subagents/progress";
import { clip } from "@pi-subagents/widget/cells";
import { agentLabel, isActive, sortByActivity } from "../text/agent-text.ts";
import { typedName } from "./register.ts";

export type Mention = { message: string } & (
	| { to: "main" }
	| { to: "agent"; agent: AgentRecord; does: "steer" | "answer" | "resume" }
	| { to: "preset"; preset: string }
);

export interface KnownNames {
	/** In launch order. */
	agents: readonly AgentRecord[];
	presets: readonly string[];
	/** Whether the directory of the session has a file of this name. */
	isFile: (name: string) => boolean;
}

/** Sends the rest of the text to the session, whatever it begins with. */
const MAIN = "main";

/** Undefined where the text addresses no one that is known: then it is none of our business. */
export function mentionIn(text: string, { agents, presets, isFile }: KnownNames): Mention | undefined {
	const [, name = "", message = ""] = /^@([^\s/.]+) +(\S[\s\S]*)$/.exec(text) ?? [];
	if (name === "" || isFile(name)) return undefined;
	const key = nameKey(name);
	if (key === MAIN) return { to: "main", message };
	const agent =
		agents.find(({ id }) => id.toLowerCase() === key) ??
		agents.findLast((each) => each.name !== undefined && nameKey(each.name) === key); // a name may have been reused
	if (agent) return { to: "agent", agent, does: actionFor(agent), message };
	const preset = presets.find((each) => nameKey(each) === key);
	return preset === undefined ? undefined : { to: "preset", preset, message };
}

function actionFor({ status }: AgentRecord): "steer" | "answer" | "resume" {
	if (isSettled(status)) return "resume";
	return status === "waiting" ? "answer" : "steer";
}

/** The text for a session that delegates by itself: it need not know how agents are addressed. */
export function textForModel(text: string, mention: Exclude<Mention, { to: "main" }>): string {
	const whom =
		mention.to === "preset"
			? `the preset "${sanitize(mention.preset)}": delegate this to a sub-agent of that preset`
			: `the sub-agent ${sanitize(agentLabel(mention.agent))} [${lookOf(mention.agent).word}]: ${TASKS[mention.does]}`;
	return `${text}\n\n(This message addresses ${whom}.)`;
}

const TASKS = {
	steer: "pass this on to it",
	answer: "pass this on to it as the answer to its question",
	resume: "resume it with this",
};

/** More would push the files, which pi lists below, off the screen. */
const MAX_FINISHED = 8;
const DESCRIPTION_COLUMNS = 80;

/** Active agents, presets, the latest finished agents, and the session itself. */
export function mentionItems(
	typed: string,
	{ agents, presets }: { agents: readonly AgentRecord[]; presets: readonly Preset[] },
): AutocompleteItem[] {
	const key = nameKey(typed);
	const begins = (...names: readonly (string | undefined)[]) =>
		names.some((name) => nameKey(name ?? "").startsWith(key));
	const matching = sortByActivity(agents).filter(({ id, name, type }) => begins(id, name, type));
	const [active, finished] = [matching.filter(isActive), matching.filter((agent) => !isActive(agent))];
	return [
		...active.map(agentItem),
		...presets
			.filter(({ name }) => begins(name) && typedName(`@${name}`) !== undefined)
			.map(({ name, description }) => item(name, `start: ${description}`)),
		...finished.slice(0, MAX_FINISHED).map(agentItem),
		...(begins(MAIN) ? [item(MAIN, "this session, whatever the message begins with")] : []),
	];
}

function agentItem(agent: AgentRecord): AutocompleteItem {
	const { id, name, type, description } = agent;
	const isTypable = name !== undefined && typedName(`@${name}`) !== undefined;
	return item(isTypable ? name : id, `${lookOf(agent).word}: ${type}, ${description}`);
}

function item(name: string, description: string): AutocompleteItem {
	const value = `@${sanitize(name)}`;
	return { value, label: value, description: clip(sanitize(description), DESCRIPTION_COLUMNS) };
}
