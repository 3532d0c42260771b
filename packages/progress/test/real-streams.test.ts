/** What pi really writes: our own tools, commands that change the directory, session files, and what is not pi's. */
import { Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { type ChildEvent, describeAll } from "../src/index.ts";
import { run } from "../src/stream.ts";

const call = (tool: string, args: Record<string, unknown>): ChildEvent => ({
	type: "tool_call",
	callId: "1",
	tool,
	args,
});

async function pipe(lines: readonly unknown[]) {
	const out = ["", ""];
	const sink = (index: 0 | 1) =>
		new Writable({
			write(chunk, _encoding, done) {
				out[index] += chunk;
				done();
			},
		});
	const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
	const code = await run({
		args: [],
		stdin: Readable.from([Buffer.from(text)]),
		stdout: sink(0),
		stderr: sink(1),
		version: "1.2.3",
	});
	return { code, stdout: out[0] ?? "", stderr: out[1] ?? "" };
}

test.each([
	["Agent", { subagent_type: "Explore", description: "look around", prompt: "Look around." }, "Explore: look around"],
	["Agent", { subagent_type: "Explore", prompt: "Look." }, "Explore: Look."],
	["subagent", { preset: "repo-scout", task: "Find the door." }, "repo-scout: Find the door."],
	["background_agent", { preset: "writer", task: "Write." }, "writer: Write."],
	["start_subagent", { role: "reviewer", task: "Review." }, "reviewer: Review."],
	["Agent", { description: "look around", prompt: "Look around." }, "an agent: look around"],
	[
		"subagent",
		{
			tasks: [
				{ preset: "Explore", task: "Find the door." },
				{ preset: "Plan", task: "Plan the way." },
				{ preset: "Explore", task: "Find the key." },
			],
		},
		"Explore, Plan: Find the door., Plan the way., Find the key.",
	],
])("our own tool %s says who does what", (tool, args, text) => {
	expect(describeAll([call(tool, args)])).toEqual([`Delegating to ${text}`]);
});

test.each([
	["stop_subagent", { id: "ab12" }, "Stopping ab12", "Stopped ab12"],
	["stop_subagent", {}, "Stopping the agent", "Stopped the agent"],
	["reply_subagent", { id: "ab12", feedback: "Yes." }, "Answering ab12: Yes.", "Answered ab12"],
	["background_agent_status", {}, "Checking background agents", "Checked background agents"],
	["workflow", { name: "audit" }, "Running workflow audit", "Called workflow audit"],
	["workflow", { script: "agent('x')" }, "Running workflow script", "Called workflow script"],
])("our own tool %s with %j says what it does", (tool, args, during, after) => {
	const end: ChildEvent = { type: "tool_result", callId: "1", tool, isError: false };
	expect(describeAll([call(tool, args), end])).toEqual([during, after]);
});

test.each([[[]], ["all"], [[null, 1, { preset: 7 }, { task: "x" }]], [{ preset: "Explore" }]])(
	"a call of ours that names nobody (%j) says what runs",
	(tasks) => {
		expect(describeAll([call("subagent", { tasks })])).toEqual(["Running subagent"]);
	},
);

test("many tasks give one line of bounded length", () => {
	const tasks = Array.from({ length: 5_000 }, (_, index) => ({ preset: `preset-${index}`, task: "x".repeat(500) }));
	const [line = ""] = describeAll([call("subagent", { tasks })]);
	expect(line).toMatch(/^Delegating to preset-0, preset-1, /);
	expect(line.length).toBeLessThanOrEqual(400);
});

test.each([
	["cd /work/project && npm test", "npm test"],
	['cd "my project"; npm test', "npm test"],
	["cd 'a b' &&\n  make -j2 && make install", "make -j2 && make install"],
	["cd src", "cd src"],
	["cd src && ", "cd src &&"],
	["cd src || exit 1", "cd src || exit 1"],
	["echo cd src && make", "echo cd src && make"],
])("%j is shown as what it does", (command, line) => {
	expect(describeAll([call("bash", { command })])).toEqual([line]);
});

test("a session file reads like the stream of the same session", async () => {
	const toolCall = { type: "toolCall", id: "t1", name: "read", arguments: { path: "a.ts" } };
	const entry = (message: object) => ({ type: "message", id: "x", parentId: null, timestamp: "2027", message });
	const session = await pipe([
		{ type: "session", version: 3, id: "s", timestamp: "2027", cwd: "/project" },
		{ type: "model_change", id: "m", provider: "fake", modelId: "one" },
		entry({ role: "user", content: "Look." }),
		entry({ role: "assistant", content: [{ type: "text", text: "I look." }, toolCall], stopReason: "toolUse" }),
		entry({ role: "toolResult", toolCallId: "t1", toolName: "read", content: [], isError: false }),
		{ type: "compaction", id: "c", summary: "Looked.", tokensBefore: 10 },
		entry({ role: "assistant", content: [{ type: "text", text: "Two doors." }], stopReason: "stop" }),
	]);
	expect(session).toEqual({
		code: 0,
		stdout: "I look.\nReading a.ts\nFinished reading a.ts\nContext compacted\nTwo doors.\n",
		stderr: "",
	});
});

test.each([
	["text", ["hello", "world"]],
	["other JSON", [{ level: "info", message: "started" }, 42]],
	["another program's events", [{ type: "user", message: { role: "user" } }, { type: "result" }]],
])("%s is no stream of pi: one line, and exit code 1", async (_what, lines) => {
	const { code, stdout, stderr } = await pipe(lines);
	expect([code, stdout, stderr.split("\n").length]).toEqual([1, "", 2]);
	expect(stderr).toMatch(/^pi-progress: .*pi --mode json/);
});

test("nothing at all is nothing to complain about", async () => {
	expect(await pipe([])).toEqual({ code: 0, stdout: "", stderr: "" });
});
