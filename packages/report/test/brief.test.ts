/** What a report and a trace hold when nobody asked for more. */
import { cpuMs } from "@pi-subagents-dev/testkit/cpu-time";
import { describe, expect, test } from "vitest";
import { buildReport, chromeTrace, htmlWith, otlpTraces } from "../src/index.ts";
import { labelOf } from "../src/model/wording.ts";
import { calls, ended, launched, log, returns, said } from "./fixtures/runs.ts";

const SECRET_ARGUMENTS = ["hunter2-hunter2", "customer-database", "quarterly-figures", "https://intranet.example"];

const run = launched("a1", {
	agent: { task: "Compare the figures.", name: "auditor" },
	lines: log(
		[1_000, { type: "agent_started" }],
		[1_100, said("The answer is forty-two.")],
		[1_200, calls("c1", "bash", { command: "cd /srv && PGPASSWORD=hunter2-hunter2 psql -h customer-database -c 'x'" })],
		[1_300, returns("c1", "bash", true)],
		[1_400, calls("c2", "grep", { pattern: "quarterly-figures", path: "/srv/customer-database" })],
		[1_500, returns("c2", "grep")],
		[1_600, calls("c3", "read", { path: "/srv/customer-database/notes.md" })],
		[1_700, returns("c3")],
		[
			1_800,
			calls("c4", "fetch_page", {
				url: "https://intranet.example/quarterly-figures",
				preset: "a",
				task: "hunter2-hunter2",
			}),
		],
		[1_900, returns("c4", "fetch_page")],
	),
	end: ended({ outcome: { status: "completed", text: "The answer is forty-two." } }),
	outputs: new Map([["c1", "hunter2-hunter2"]]),
	diff: "+quarterly-figures",
});
const brief = buildReport([run], { now: 0 });

test.each<[string, string]>([
	["the data of a report or a dashboard", JSON.stringify(brief)],
	["the page", htmlWith(brief, { script: "", style: "" })],
	["a Chrome trace", JSON.stringify(chromeTrace(brief))],
	["a Chrome trace with content", JSON.stringify(chromeTrace(brief, { hasContent: true }))],
	["OpenTelemetry", JSON.stringify(otlpTraces(brief))],
	["OpenTelemetry with content", JSON.stringify(otlpTraces(brief, { hasContent: true }))],
])("%s has no argument and no output of a tool", (_what, text) => {
	expect(SECRET_ARGUMENTS.filter((each) => text.includes(each))).toEqual([]);
});

test.each<[string, unknown]>([
	["a Chrome trace", chromeTrace(brief)],
	["OpenTelemetry", otlpTraces(brief)],
])("%s has no task and no answer, unless it is asked for", (_what, trace) => {
	expect(JSON.stringify(trace)).not.toMatch(/figures|forty-two|task of/);
	expect(JSON.stringify(trace)).toContain("auditor");
});

test.each<[string, unknown]>([
	["a Chrome trace", chromeTrace(brief, { hasContent: true })],
	["OpenTelemetry", otlpTraces(brief, { hasContent: true })],
])("%s has tasks and answers when it is asked for", (_what, trace) => {
	expect(JSON.stringify(trace)).toMatch(/Compare the figures[\s\S]*forty-two/);
});

test("a full report has the whole commands", () => {
	const text = JSON.stringify(buildReport([run], { now: 0, isFull: true }));
	expect(SECRET_ARGUMENTS.filter((each) => !text.includes(each))).toEqual([]);
});

describe("a call without its arguments", () => {
	test.each<[string, Record<string, unknown>, string]>([
		["bash", { command: "git push https://me:pw@example.org" }, "Running git"],
		["bash", { command: "  /usr/local/bin/npm test -- --secret x" }, "Running npm"],
		["bash", { command: "TOKEN='a b' OTHER=x cd \"/a b\" && sudo env FOO=1 docker run x" }, "Running docker"],
		["bash", { command: "cd /srv/secret; ls" }, "Running ls"],
		["bash", { command: "sk-ant-api03-abcdefghijklmnop" }, "Running a command"],
		["bash", { command: "$(cat secret)" }, "Running a command"],
		["bash", { command: "(cd x; make)" }, "Running a command"],
		["bash", { command: "TOKEN=abc" }, "Running a command"],
		["bash", { command: "" }, "Running a command"],
		["bash", {}, "Running a command"],
		["powershell", { command: "Get-Content secret.txt" }, "Running Get-Content"],
		["read", { path: "/home/ada/customers/acme/a.ts" }, "Reading a.ts"],
		["edit", { file_path: "C:\\customers\\b.ts" }, "Editing b.ts"],
		["ls", { path: "/" }, "Listing a directory"],
		["write", {}, "Writing a file"],
		["grep", { pattern: "secret" }, "Searching code"],
		["find", { pattern: "secret" }, "Scanning for files"],
		["fetch_page", { url: "https://example.org" }, "Running fetch_page"],
		["subagent", { preset: "scout", task: "Look around." }, "Launching scout: Look around."],
	])("%s %j is called %s", (tool, args, label) => {
		expect(labelOf({ type: "tool_call", at: 1, tool, args })).toBe(label);
	});

	test("a command of any length takes no time", () => {
		const commands = ["A=1 ".repeat(100_000), "cd x && ".repeat(100_000), "'".repeat(1_000_000)];
		const label = (command: string) => labelOf({ type: "tool_call", at: 1, tool: "bash", args: { command } });
		expect(cpuMs(() => commands.forEach(label))).toBeLessThan(1_000);
	});
});
