/**
 * What the user is notified of outside pi: that an agent waits for an answer, has failed or is done. Pure: settings and
 * events in, alerts out. Detached runs are announced by their own wrapper, since pi may be closed when they end.
 */
import { endText, lookOf, type Outcome, sanitize } from "@pi-subagents/progress";
import type { Clock } from "../base/clock.ts";
import { clip } from "../base/error.ts";
import type { AgentRecord } from "../model/record.ts";
import type { AgentIdentity } from "../model/schema/launch.ts";
import type { Store } from "../model/store.ts";
import { durationOf } from "../outcome-text/details.ts";

/** What is worth an alert, and how it reaches the user. */
export interface AlertRules {
	readonly on: readonly Alert["event"][];
	/** Shorter runs, and questions that are answered sooner, are not worth an alert. */
	readonly minSeconds: number;
	readonly via: "osc" | "bell" | "command";
	/** Program and arguments, without a shell. Detached runs always use it, whatever `via` says. */
	readonly command: readonly string[];
}

/** What the command gets as JSON. */
export interface Alert {
	event: "question" | "failed" | "done";
	title: string;
	/** One line, free of control characters. */
	text: string;
	agentId: string;
	preset: string;
	description: string;
	/** The agent's working directory. */
	cwd: string;
	/** How long the run took. Absent for a question. */
	durationMs?: number;
}

type AlertedAgent = Pick<AgentIdentity, "type" | "description" | "cwd"> & { id: string };

const TITLE = "pi";
const MAX_TEXT = 200;

/** Undefined if the end is not worth an alert: it was too soon, or the user or a parent wanted it. */
export function settledAlert(
	{ on, minSeconds }: AlertRules,
	agent: AlertedAgent,
	{ outcome, durationMs }: { outcome: Outcome; durationMs: number },
): Alert | undefined {
	const event = outcome.status === "completed" ? "done" : "failed";
	const isWanted = outcome.status === "aborted" && WANTED.has(outcome.by);
	if (isWanted || !on.includes(event) || durationMs < minSeconds * 1_000) return undefined;
	return { ...alertOf(event, agent, lookOf(outcome.status).icon, `: ${endText(outcome, { durationMs })}`), durationMs };
}

/** The end of the program is not announced either: the user ended it. */
const WANTED: ReadonlySet<string> = new Set(["user", "parent", "shutdown"]);

function questionAlert({ on }: AlertRules, agent: AlertedAgent, question: string): Alert | undefined {
	if (!on.includes("question")) return undefined;
	return alertOf("question", agent, lookOf("waiting").icon, ` asks: ${question}`);
}

function alertOf(event: Alert["event"], { id, type, description, cwd }: AlertedAgent, icon: string, said: string) {
	const line = (text: string) => clip(sanitize(text), MAX_TEXT);
	const text = line(`${icon} ${type}${said} (${description})`);
	const about = { agentId: id, preset: line(type), description: line(description), cwd };
	return { event, title: TITLE, text, ...about } satisfies Alert;
}

/**
 * The characters that make a terminal show the alert, or ring. Terminals disagree: kitty knows OSC 99, iTerm2 OSC 9, and
 * the others that show notifications (Ghostty, WezTerm, foot, rxvt-unicode, those based on VTE) OSC 777. tmux passes
 * them on if its `allow-passthrough` is on.
 */
export function alertSequence(
	{ title, text }: Pick<Alert, "title" | "text">,
	via: "osc" | "bell",
	env: Readonly<Record<string, string | undefined>>,
): string {
	if (via === "bell") return BELL;
	const body = text.replaceAll(";", ","); // separates the parts of a sequence
	const sequence =
		env.KITTY_WINDOW_ID !== undefined
			? `${ESC}]99;;${title}: ${body}${ESC}\\`
			: env.TERM_PROGRAM === "iTerm.app"
				? `${ESC}]9;${title}: ${body}${BELL}`
				: `${ESC}]777;notify;${title};${body}${BELL}`;
	return env.TMUX === undefined ? sequence : `${ESC}Ptmux;${sequence.replaceAll(ESC, ESC + ESC)}${ESC}\\`;
}

const ESC = "\x1b";
const BELL = "\x07";

/** How alerts leave this process. */
export interface AlertPorts {
	/** The current rules. */
	rules: () => AlertRules;
	clock: Pick<Clock, "after">;
	/** Shows an alert in the user's terminal, if there is one. */
	show: (alert: Alert, via: "osc" | "bell") => void;
	/** Starts the user's command. */
	run: (alert: Alert, command: readonly string[]) => void;
}

/** Announces what happens to the agents of a store. Returns a function that ends it. */
export function followAlerts(store: Store, { rules, clock, show, run }: AlertPorts): () => void {
	const asking = new Map<string, () => void>();
	const announce = (alert: Alert | undefined, { outlives }: AgentRecord) => {
		if (!alert) return;
		const { via, command } = rules();
		if (via !== "command" && !outlives) show(alert, via);
		else if (command.length > 0) run(alert, command);
	};
	const forget = (id: string) => {
		asking.get(id)?.();
		asking.delete(id);
	};
	const unsubscribe = store.subscribe(({ event, record }) => {
		const { id, depth, outlives, outcome } = record;
		if (event.type === "agent_asked" && event.to === "user") {
			forget(id);
			const alert = questionAlert(rules(), record, event.question);
			asking.set(
				id,
				clock.after(rules().minSeconds * 1_000, () => announce(alert, record)),
			);
		} else if (event.type === "agent_answered") forget(id);
		else if (event.type === "agent_settled") {
			forget(id);
			// A nested agent's result goes to the agent that launched it.
			if (depth !== 1 || outlives || !outcome) return;
			announce(settledAlert(rules(), record, { outcome, durationMs: durationOf(record) }), record);
		}
	});
	return () => {
		unsubscribe();
		for (const id of [...asking.keys()]) forget(id);
	};
}

/** The wrapper of a detached run gets the rules in this variable: anyone could have written a file in the project. */
export const ALERT_VARIABLE = "PI_SUBAGENTS_ALERTS";

/** For the environment of a wrapper: an absent value removes an inherited one. */
export function alertVariables(
	rules: AlertRules | undefined,
	{ outlives }: { outlives?: boolean },
): Record<string, string | undefined> {
	const isUsed = outlives === true && rules !== undefined && rules.command.length > 0 && rules.on.length > 0;
	return { [ALERT_VARIABLE]: isUsed ? JSON.stringify(rules) : undefined };
}
