/** What somebody who comes from another sub-agent extension has on disk, in real pi: it must work as it is. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import {
	all,
	callTool,
	converse,
	isFullRun,
	lastUserSays,
	offersTool,
	otherwise,
	runPrint,
	say,
	startRpc,
	systemPromptSays,
} from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { scene, unfenced } from "../../support/scene.ts";

const agentFiles = {
	"subagents.json": JSON.stringify({
		maxConcurrent: 10,
		defaultJoinMode: "async",
		disableDefaultAgents: true,
		widgetMode: "off",
		fleetView: true,
		toolDescriptionMode: "full",
	}),
	"agents/auditor.md": `---
display_name: Auditor
description: Audits what it is told to
tools: read, grep
max_turns: 10
run_in_background: false
persist_session: true
---
You audit.
`,
};

const rules = [
	converse(
		all(offersTool("Agent"), lastUserSays("audit")),
		callTool("Agent", { prompt: "Audit.", description: "audit", subagent_type: "auditor", run_in_background: false }),
		({ lastToolResults }) => say(`It says: ${unfenced(lastToolResults[0]?.text)}`),
	),
	converse(systemPromptSays("You audit."), callTool("read", { path: "notes.txt" }), say("All in order.")),
];

test("presets and settings of another extension count, and nothing is complained about", async () => {
	await using it = await scene(rules, { agentFiles });
	await using pi = startRpc({ env: it.env });
	const events = await pi.prompt("Please audit this.");
	expect(JSON.stringify(events)).toContain("It says: All in order.");
	const told = it.server.requests[0]?.tools.find(({ name }) => name === "Agent")?.description;
	expect(told).toContain("- auditor: Audits what it is told to");
	expect(told).not.toContain("general-purpose");
	const asked = pi.events.filter((event) => event.type === "extension_ui_request");
	expect(asked.filter(({ method }) => method === "notify")).toEqual([]);
	const trees = asked.filter((event) => event.method === "setWidget" && (event.widgetLines ?? []).length > 0);
	expect(trees).toEqual([]);
	expect(pi.stderr).toBe("");
});

test("the doctor says what was read under another name, and finds no fault with it", async () => {
	await using it = await scene([], { agentFiles });
	const { stdout, stderr } = await runPrint({ env: it.env }, "/subagent doctor");
	const printed = `${stdout}${stderr}`.replace(/\s+/g, " ");
	expect(printed).toMatch(/subagents\.json: `defaultJoinMode` is read as `join`/);
	expect(printed).toMatch(/`fleetView` has no effect here: the tree and `\/agents` show every agent/);
	expect(printed).not.toMatch(/✗ settings/);
});

/** What an agent answers to a task that holds these words. */
const ANSWERS: readonly (readonly [string, unknown])[] = [
	["grep CI logs", { tests: ["a", "b"] }],
	["Fix the flaky test", "Fixed."],
	["Find bugs in the diff", { findings: [{ title: "a bug", file: "a.ts" }] }],
	["Find slow code", { findings: [{ title: "a detour", file: "b.ts" }] }],
	["Adversarially verify: a bug", { isReal: true }],
	["Adversarially verify", { isReal: false }],
	["Known: none", { bugs: [{ file: "a.ts", line: 1, desc: "off by one" }] }],
	["Find bugs about", { bugs: [] }],
	["Judge", { real: true }],
];

if (isFullRun)
	test.each([
		["flaky-tests.js", { fixed: 2, of: 2 }],
		["review-dimensions.js", { confirmed: [{ title: "a bug", file: "a.ts", verdict: { isReal: true } }] }],
		["until-dry.js", Array(2).fill({ file: "a.ts", line: 1, desc: "off by one" })],
	])("the workflow %s runs unchanged", async (name, result) => {
		const source = new URL(`../../../packages/workflow/test/scripts/${name}`, import.meta.url);
		const answers = otherwise(({ lastUserText }) => {
			const [, answer = "?"] = ANSWERS.find(([words]) => lastUserText.includes(words)) ?? [];
			return say(typeof answer === "string" ? answer : JSON.stringify(answer));
		});
		await using it = await scene([answers], { files: { "flow.js": await readFile(source, "utf8") } });
		const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: it.env.cwd });
		await git("init", "--quiet"); // one of them gives its agents worktrees
		await git("add", ".");
		await git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "-m", "first");
		const { stdout, stderr } = await runPrint({ env: it.env, args: ["--subagents-workflow", "flow.js"] }, "");
		expect(stderr).toBe("");
		expect(JSON.parse(stdout)).toEqual(result);
	});
