/** Settings files, answers of the launch hook, texts of tools. */
import { strict as assert } from "node:assert";
import { AgentError, type RunSpec } from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import fc from "fast-check";
import { Check } from "typebox/value";
import { expand } from "../../../../packages/launch/src/agent-description.ts";
import { answerOf, narrowed } from "../../../../packages/launch/src/launch-hook.ts";
import { settingsSchema } from "../../../../packages/launch/src/settings/schema.ts";
import { readSettings } from "../../../../packages/launch/src/settings/settings.ts";
import { changedJson, changedText } from "../mutate.ts";
import { parsed, presentable, type Target, target, unpolluted } from "../target.ts";

const SETTINGS = [
	{
		maxConcurrent: 4,
		maxDepth: 2,
		toolsets: ["agents", "presets"],
		agentOverrides: { scout: { tools: ["read"], max_turns: 3 } },
		hooks: { before_launch: ["hook", "x"] },
		machines: { box: { ssh: "me@box", sshOptions: ["-p", "22"] } },
		launchers: { box: { command: ["bwrap", "{cwd}"], env: { A: "b" } } },
		budget: { session: { tokens: 100_000, cost: 2 } },
		workflows: { autoResume: true, budgetTokens: 5 },
		retention: { days: 3, megabytes: 10 },
		alerts: { when: ["done"], command: ["notify"] },
	},
	{ subagents: { maxConcurrency: 3, defaultModel: "fake/one", enabled: false } },
];
/** What a project can never say. */
const USERS_ONLY = ["hooks", "machines", "launchers", "budget"] as const;
const DEFAULTS = readSettings([]).settings;

const ANSWERS = [
	{ tools: ["read"], model: "fake/two", limits: { maxTurns: 2, timeoutMs: 100, budgetCost: 0.1 } },
	{ refuse: "not today" },
	{},
];
const SPEC: RunSpec = { ...sampleSpec, tools: ["read", "bash"], limits: { maxTurns: 5, timeoutMs: 60_000 } };

function parses(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}

export const settingsTargets: Target[] = [
	target(
		"settings are used or ignored with a reason, and a project's never start a program",
		fc.tuple(
			fc.oneof(
				changedJson(SETTINGS).map((value) => JSON.stringify(value) ?? ""),
				changedText(SETTINGS.map((value) => JSON.stringify(value, undefined, 2))),
			),
			fc.boolean(),
		),
		([text, isProjects]) => {
			const { settings, problems, notes, refusals } = readSettings([{ path: "/x/subagents.json", text, isProjects }]);
			assert.ok(Check(settingsSchema, settings), "settings are not valid");
			for (const problem of problems) {
				presentable(problem, 2_000);
				assert.match(problem, /^\/x\/subagents\.json/);
			}
			presentable(JSON.stringify(notes).replaceAll(/\\u[0-9a-f]{4}/g, ""), 100_000);
			if (isProjects) for (const key of USERS_ONLY) assert.deepEqual(settings[key], DEFAULTS[key], key);
			if (!parses(text)) assert.equal(refusals.length, 1, "what is no JSON must refuse launches");
			for (const refusal of refusals) assert.ok(problems.includes(refusal.text));
			unpolluted();
		},
	),
	target(
		"the answer of a launch hook narrows, refuses, or is an error; it never gives more",
		fc.tuple(
			fc.oneof(
				changedJson(ANSWERS).map((value) => JSON.stringify(value) ?? ""),
				changedText(ANSWERS.map((value) => JSON.stringify(value))),
			),
			fc.constantFrom(0, 0, 0, 1, 127),
		),
		([stdout, code]) => {
			const end = { how: "exited" as const, code, durationMs: 1, tail: "", stdout };
			const spec = parsed(() => narrowed(SPEC, answerOf(end)), AgentError);
			if (!spec) return;
			assert.equal(code, 0);
			assert.ok(spec.tools.every((tool) => SPEC.tools.includes(tool)));
			for (const [name, most] of Object.entries(SPEC.limits))
				assert.ok((spec.limits[name as keyof typeof SPEC.limits] ?? Number.POSITIVE_INFINITY) <= most, name);
		},
	),
	target(
		"the text of a tool is cleaned and bounded, whatever its file holds",
		changedText(["Delegates work.\n{{types}}\nDepth {{maxDepth}} {{#if scheduling}}later{{/if}}\n{{ unknown }}"]),
		(text) => {
			const facts = { presets: [], agentDir: "/x", maxDepth: 2, scheduling: true };
			const { text: shown, problems } = expand({ path: "/x/agent-tool.md", text }, facts);
			presentable(shown, 17_000);
			for (const problem of problems) presentable(problem, 2_000);
		},
	),
];
