/** Which events are worth an alert, what it says, and how it leaves the process. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome } from "@pi-subagents/progress";
import { expect, test } from "vitest";
import { alertVariables, settledAlert } from "../../src/alert/alert.ts";
import {
	type Alert,
	type AlertRules,
	alertSequence,
	followAlerts,
	type LifeCycleEvent,
	Store,
} from "../../src/index.ts";
import { runAlertCommand, takeAlertRules } from "../../src/shell/alert-command.ts";
import { handClock } from "../../src/testing/index.ts";
import { log, queued, settled, started } from "../fixtures/events.ts";

const rules: AlertRules = { on: ["question", "failed", "done"], minSeconds: 30, via: "osc", command: [] };
const agent = { id: "a1", type: "scout", description: "look around", cwd: "/project" };
const done: Outcome = { status: "completed", text: "It is." };

test.each<[string, Partial<AlertRules>, Outcome, seconds: number, text: string | undefined]>([
	["a long run that is done", {}, done, 30, "✓ scout: Done in 30s (look around)"],
	["a short run", {}, done, 29, undefined],
	["any run", { minSeconds: 0 }, done, 0, "✓ scout: Done in 0s (look around)"],
	["what was not asked for", { on: ["failed"] }, done, 60, undefined],
	["nothing by default", { on: [] }, { status: "failed", error: "no" }, 60, undefined],
	[
		"a failure",
		{},
		{ status: "failed", error: "no \x1b]0;evil\x07luck" },
		60,
		"✗ scout: Failed after 1m: no luck (look around)",
	],
	["a limit", {}, { status: "aborted", by: "timeout" }, 60, "■ scout: Stopped after 1m: timed out (look around)"],
	["a stop by the user", {}, { status: "aborted", by: "user" }, 60, undefined],
	["the end of pi", {}, { status: "aborted", by: "shutdown" }, 60, undefined],
])("%s", (_what, more, outcome, seconds, text) => {
	expect(settledAlert({ ...rules, ...more }, agent, { outcome, durationMs: seconds * 1_000 })?.text).toBe(text);
});

test.each([
	["ghostty", { TERM_PROGRAM: "ghostty" }, "\x1b]777;notify;pi;a, b\x07"],
	["iTerm2", { TERM_PROGRAM: "iTerm.app" }, "\x1b]9;pi: a, b\x07"],
	["kitty", { KITTY_WINDOW_ID: "1" }, "\x1b]99;;pi: a, b\x1b\\"],
	["tmux", { TMUX: "/tmp/tmux" }, "\x1bPtmux;\x1b\x1b]777;notify;pi;a, b\x07\x1b\\"],
])("the sequence for %s", (_name, env, sequence) => {
	expect(alertSequence({ title: "pi", text: "a; b" }, "osc", env)).toBe(sequence);
	expect(alertSequence({ title: "pi", text: "a; b" }, "bell", env)).toBe("\x07");
});

function followed(more: Partial<AlertRules>) {
	const store = new Store();
	const clock = handClock();
	const heard: string[] = [];
	const note = (how: string) => (alert: Alert) => heard.push(`${how}: ${alert.text}`);
	followAlerts(store, {
		rules: () => ({ ...rules, minSeconds: 1, ...more }),
		clock,
		show: (alert, via) => note(via)(alert),
		run: (alert, command) => note(command.join(" "))(alert),
	});
	let seq = 0;
	const tell = (id: string, ...events: LifeCycleEvent[]) => {
		for (const event of log(events, id)) store.dispatch({ ...event, seq: ++seq });
	};
	return { heard, clock, tell };
}

const as = (more: object): LifeCycleEvent => {
	if (queued.type !== "agent_queued") throw new Error("not a launch");
	return { ...queued, agent: { ...queued.agent, ...more } };
};

test("an agent of the session is announced in the terminal; a nested one is its parent's business", () => {
	const { heard, tell } = followed({});
	tell("a1", queued, started, settled(done));
	tell("a2", as({ depth: 2 }), started, settled(done));
	expect(heard).toEqual(["osc: ✓ scout: Done in 1s (look around)"]);
});

test("a question is announced once it has waited, unless it was answered or is not for the user", () => {
	const { heard, clock, tell } = followed({ via: "bell", minSeconds: 10 });
	const asked = (to: "user" | "session"): LifeCycleEvent => ({ type: "agent_asked", question: "Which one?", to });
	tell("a1", queued, started, asked("user"));
	tell("a2", queued, started, asked("session"));
	tell("a3", queued, started, asked("user"), { type: "agent_answered", by: "user" });
	clock.advance(9_999);
	expect(heard).toEqual([]);
	clock.advance(1);
	expect(heard).toEqual(["bell: ? scout asks: Which one? (look around)"]);
});

test("a detached run uses the command alone: pi announces its questions, its wrapper the end", () => {
	const asked: LifeCycleEvent = { type: "agent_asked", question: "Which one?", to: "user" };
	const [without, withOne] = [followed({}), followed({ command: ["notify", "me"] })];
	for (const { tell, clock } of [without, withOne]) {
		tell("a1", as({ outlives: true }), started, asked);
		clock.advance(1_000);
		tell("a2", as({ outlives: true }), started, settled(done));
	}
	expect(without.heard).toEqual([]);
	expect(withOne.heard).toEqual(["notify me: ? scout asks: Which one? (look around)"]);
});

test("a wrapper gets the rules only for a detached run with a command, and takes them out of its environment", () => {
	const usable = { ...rules, command: ["notify"] };
	expect(alertVariables(usable, { outlives: false })).toEqual({ PI_SUBAGENTS_ALERTS: undefined });
	expect(alertVariables(rules, { outlives: true })).toEqual({ PI_SUBAGENTS_ALERTS: undefined });
	const env = alertVariables(usable, { outlives: true });
	expect(takeAlertRules(env)).toEqual(usable);
	expect(env).toEqual({});
	for (const text of ["{", "{}", '{"on":["done"],"minSeconds":0,"via":"osc","command":[]}'])
		expect(takeAlertRules({ PI_SUBAGENTS_ALERTS: text })).toBeUndefined();
});

test("the command gets JSON on its input and its arguments as they are; one that is missing is reported", async () => {
	const dir = await mkdtemp(join(tmpdir(), "alert-"));
	const script = join(dir, "record.mjs");
	const file = join(dir, "heard.json");
	await writeFile(
		script,
		'import { renameSync, writeFileSync } from "node:fs";\nlet text = "";\nfor await (const piece of process.stdin) text += piece;\nconst [, , file, said] = process.argv;\nwriteFileSync(file + ".tmp", JSON.stringify({ said, alert: JSON.parse(text) }));\nrenameSync(file + ".tmp", file);\n',
	);
	const alert = settledAlert(rules, agent, { outcome: done, durationMs: 60_000 });
	if (!alert) throw new Error("no alert");
	await runAlertCommand(alert, [process.execPath, script, file, "$(id); `id`"]);
	const heard = async () => JSON.parse(await readFile(file, "utf8").catch(() => "null"));
	await expect.poll(heard).toEqual({ said: "$(id); `id`", alert });
	expect(alert).toEqual({
		event: "done",
		title: "pi",
		text: "✓ scout: Done in 1m (look around)",
		agentId: "a1",
		preset: "scout",
		description: "look around",
		cwd: "/project",
		durationMs: 60_000,
	});
	await expect(runAlertCommand(alert, [join(dir, "missing")])).rejects.toThrow(
		"The command for notifications could not",
	);
	await rm(dir, { recursive: true });
});
