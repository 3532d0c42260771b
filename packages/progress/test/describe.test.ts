import { expect, test } from "vitest";
import { type ChildEvent, createDescriber, describe, describeAll, type Memory } from "../src/index.ts";
import { call, failure, lineFor, result, text } from "./fixtures/events.ts";

test.each([
	["read", { path: "src/auth.ts" }, "Reading src/auth.ts", "Finished reading src/auth.ts", "Read failed: src/auth.ts"],
	[
		"read",
		{ file_path: "src/auth.ts" },
		"Reading src/auth.ts",
		"Finished reading src/auth.ts",
		"Read failed: src/auth.ts",
	],
	["grep", { pattern: "auth" }, "Searching code for auth", "Search finished", "Search failed"],
	["find", { pattern: "*.test.ts" }, "Scanning for *.test.ts", "Scan finished", "Scan failed"],
	["ls", { path: "src/" }, "Listing src/", "Finished listing src/", "Listing failed: src/"],
	["edit", { path: "src/tool.ts" }, "Editing src/tool.ts", "Finished editing src/tool.ts", "Edit failed: src/tool.ts"],
	["write", { path: "README.md" }, "Writing README.md", "Finished writing README.md", "Write failed: README.md"],
	["bash", { command: "npm test" }, "npm test", "Command finished: npm test", "Command failed: npm test"],
	["powershell", { command: "dir" }, "dir", "Command finished: dir", "Command failed: dir"],
	["deploy", { to: "staging" }, "Running deploy", "deploy finished", "deploy failed"],
	["", {}, "Running tool", "tool finished", "tool failed"],
	["__proto__", { path: "a" }, "Running __proto__", "__proto__ finished", "__proto__ failed"],
	["constructor", {}, "Running constructor", "constructor finished", "constructor failed"],
	["toString", {}, "Running toString", "toString finished", "toString failed"],
	["*", {}, "Running *", "* finished", "* failed"],
])("%s %j reads %s", (tool, args, calling, done, failed) => {
	expect(describeAll([call(tool, args, "1"), result(tool, "1")])).toEqual([calling, done]);
	expect(describeAll([call(tool, args, "1"), failure(tool, "1")])).toEqual([calling, failed]);
});

test.each([
	["read", {}, "Running read", "read finished", "read failed"],
	["read", { path: "" }, "Running read", "read finished", "read failed"],
	["read", { path: " \n" }, "Running read", "read finished", "read failed"],
	["read", { path: null }, "Running read", "read finished", "read failed"],
	["read", { path: { x: 1 } }, "Running read", "read finished", "read failed"],
	["ls", {}, "Running ls", "ls finished", "ls failed"],
	["bash", { command: true }, "Running bash", "bash finished", "bash failed"],
	["grep", {}, "Running grep", "Search finished", "Search failed"],
])("missing detail is not invented: %s %j", (tool, args, calling, done, failed) => {
	expect(describeAll([call(tool, args, "1"), result(tool, "1")])).toEqual([calling, done]);
	expect(describeAll([call(tool, args, "1"), failure(tool, "1")])).toEqual([calling, failed]);
});

test("arguments that the tool inherited are not its arguments", () => {
	expect(lineFor(call("read", Object.create({ path: "inherited" })))).toBe("Running read");
	expect(lineFor(call("x"), { phrases: { x: { call: "{toString}{constructor}" } } })).toBe("Running x");
});

test("a result without its call says only that the tool ended", () => {
	expect(describeAll([result("read"), failure("grep"), result("bash", "9"), result("")])).toEqual([
		"read finished",
		"grep failed",
		"bash finished",
		"tool finished",
	]);
});

test("parallel calls of one tool are told apart by id", () => {
	const a = { path: "a.ts" };
	const b = { path: "b.ts" };
	expect(
		describeAll([
			call("read", a, "1"),
			call("read", b, "2"),
			result("read", "2"),
			failure("read", "1"),
			result("read", "1"),
		]),
	).toEqual(["Reading a.ts", "Reading b.ts", "Finished reading b.ts", "Read failed: a.ts", "read finished"]);
});

test.each([
	["neither side has ids", undefined, undefined],
	["only calls have ids", "1", undefined],
	["only results have ids", undefined, "1"],
])("oldest first by name when %s", (_, callId, resultId) => {
	const id = (base: string | undefined, n: number) => (base === undefined ? undefined : `${base}${n}`);
	expect(
		describeAll([
			call("read", { path: "a.ts" }, id(callId, 1)),
			call("ls", { path: "src" }, id(callId, 2)),
			call("read", { path: "b.ts" }, id(callId, 3)),
			result("read", id(resultId, 1)),
			failure("ls", id(resultId, 2)),
			result("read", id(resultId, 3)),
			result("read", id(resultId, 4)),
		]).slice(3),
	).toEqual(["Finished reading a.ts", "Listing failed: src", "Finished reading b.ts", "read finished"]);
});

test("while another call of the turn runs, that is what the child does now", () => {
	let memory: Memory | undefined;
	const said = [
		call("bash", { command: "sleep 60" }, "1"),
		call("read", { path: "a.ts" }, "2"),
		call("ls", { path: "." }, "3"),
		failure("read", "2"),
		result("ls", "3"),
		result("bash", "1"),
	].map((event) => {
		const description = describe(memory, event);
		memory = description.memory;
		return [description.line, description.now];
	});
	expect(said).toEqual([
		["sleep 60", undefined],
		["Reading a.ts", undefined],
		["Listing .", undefined],
		["Read failed: a.ts", "Listing ."],
		["Finished listing .", "sleep 60"],
		["Command finished: sleep 60", undefined],
	]);
});

test("a result with an id does not take a call with another id", () => {
	expect(describeAll([call("read", { path: "a.ts" }, "1"), result("read", "2"), result("read", "1")])).toEqual([
		"Reading a.ts",
		"read finished",
		"Finished reading a.ts",
	]);
});

test("a call that is announced twice ends once", () => {
	const again = call("read", { path: "b.ts" }, "1");
	expect(
		describeAll([call("read", { path: "a.ts" }, "1"), again, result("read", "1"), result("read", "1")]).slice(2),
	).toEqual(["Finished reading b.ts", "read finished"]);
});

test("calls that were cut off are forgotten when the child is idle", () => {
	const events: ChildEvent[] = [call("read", { path: "a.ts" }), { type: "idle" }, result("read")];
	expect(describeAll(events)).toEqual(["Reading a.ts", "read finished"]);
});

test("very long ids still tell calls apart", () => {
	const long = (end: string) => `${"x".repeat(5_000)}${end}`;
	const { memory } = describe(undefined, call("read", { path: "a.ts" }, long("1")));
	expect(JSON.stringify(memory).length).toBeLessThan(500);
	expect(describe(memory, result("read", long("2"))).line).toBe("read finished");
	expect(describe(memory, result("read", long("1"))).line).toBe("Finished reading a.ts");
});

test.each<[ChildEvent, string | undefined]>([
	[text("I'm inspecting the auth flow now."), "I'm inspecting the auth flow now."],
	[text("One.\n\n- two\x1b[31m"), "One. - two"],
	[text(""), undefined],
	[text(" \n\t\x1b[0m"), undefined],
	[{ type: "assistant_text", text: "", error: "529", stopReason: "error" }, "Model error: 529"],
	[{ type: "assistant_text", text: "", error: "529" }, "Model error: 529"],
	[{ type: "assistant_text", text: " ", stopReason: "error" }, "Model error: no reason given"],
	[
		{ type: "assistant_text", text: "", error: "Request was aborted", stopReason: "aborted" },
		"Answer stopped: Request was aborted",
	],
	[{ type: "assistant_text", text: "Half an", error: "529", stopReason: "error" }, "Half an · Model error: 529"],
	[{ type: "assistant_text", text: "Half an", stopReason: "aborted" }, "Half an · Answer stopped: no reason given"],
	[{ type: "assistant_text", text: "", stopReason: "toolUse" }, undefined],
	[{ type: "usage", usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 } }, undefined],
	[{ type: "turn" }, undefined],
	[{ type: "idle" }, undefined],
	[{ type: "compacting" }, "Compacting context"],
	[{ type: "compacted", ok: true }, "Context compacted"],
	[{ type: "compacted", ok: false }, "Compaction failed"],
	[
		{ type: "retrying", attempt: 2, maxAttempts: 3, delayMs: 4_000, error: "529 overloaded" },
		"Retrying (2 of 3) in 4s: 529 overloaded",
	],
	[
		{ type: "retrying", attempt: 2, maxAttempts: 3, delayMs: 4_000, retryAfterMs: 15_000, error: "429" },
		"Retrying (2 of 3) in 15s: 429",
	],
	[
		{ type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 2_000, error: "" },
		"Retrying (1 of 3) in 2s: no reason given",
	],
	[{ type: "later" } as unknown as ChildEvent, undefined],
])("%j reads %s", (event, expected) => {
	expect(lineFor(event)).toBe(expected);
});

test("long details are shortened where they say least", () => {
	const command = `echo ${"x".repeat(100)}`;
	expect(lineFor(call("bash", { command }))).toBe(`${command.slice(0, 79)}…`);
	expect(lineFor(call("bash", { command: "set -e\n  npm ci &&\r\n\tnpm test" }))).toBe("set -e npm ci && npm test");
	const path = `${"deep/".repeat(100)}auth.ts`;
	expect(lineFor(call("read", { path }))).toBe(`Reading …${path.slice(-199)}`);
	const pattern = "p".repeat(300);
	expect(lineFor(call("grep", { pattern }))).toBe(`Searching code for ${pattern.slice(0, 199)}…`);
	expect(lineFor(text("word ".repeat(200)))).toBe(`${"word ".repeat(80).trimEnd()}…`);
	expect(lineFor(text("word ".repeat(200)), { maxLength: 9 })).toBe("word wor…");
	expect(lineFor(text(`${"a".repeat(400)} `))).toBe("a".repeat(400));
});

test("details are cleaned, and are not read as templates", () => {
	expect(lineFor(call("read", { path: "\x1b]0;owned\x07a\u202eb.ts" }))).toBe("Reading ab.ts");
	expect(lineFor(call("read", { path: "{tool}/$&/{path}" }))).toBe("Reading {tool}/$&/{path}");
	expect(lineFor(call("\x1b[31mdeploy\n"))).toBe("Running deploy");
});

test("the memory is the same object while nothing changes", () => {
	const { memory } = describe(undefined, call("read", { path: "a.ts" }, "1"));
	const quiet: ChildEvent[] = [text("x"), { type: "turn" }, { type: "compacting" }, result("ls"), result("read", "2")];
	for (const event of quiet) expect(describe(memory, event).memory).toBe(memory);
	const empty = describe(memory, { type: "idle" }).memory;
	expect(describe(empty, { type: "idle" }).memory).toBe(empty);
	const lines = { call: "Reading a.ts", done: "Finished reading a.ts", failed: "Read failed: a.ts" };
	expect(memory).toEqual({ pending: [{ callId: "1", tool: "read", ...lines }] });
});

test("the oldest calls are dropped when too many are open", () => {
	const describeNext = createDescriber();
	for (let n = 0; n < 65; n++) describeNext(call("read", { path: `${n}.ts` }, `${n}`));
	expect(describeNext(result("read", "0"))).toBe("read finished");
	expect(describeNext(result("read", "1"))).toBe("Finished reading 1.ts");
	expect(describeNext(result("read", "64"))).toBe("Finished reading 64.ts");
});

test("a damaged memory counts as none, and what is in one is not trusted", () => {
	for (const memory of [{}, { pending: 7 }, { pending: [null] }, { pending: ["x"] }, null, "x"]) {
		expect(describe(memory as unknown as Memory, result("read")).line).toBe("read finished");
	}
	const other = { tool: "bash", call: "\x1b[2Jhere", done: "x", failed: "x" };
	const tampered: Memory = { pending: [other, { tool: "read", call: "x", done: "\x1b[2Jgone\n", failed: "x" }] };
	expect(describe(tampered, result("read"))).toMatchObject({ line: "gone", now: "here" });
	const older = { pending: [{ tool: "bash" }, { tool: "read", done: "gone" }] } as unknown as Memory;
	expect(describe(older, result("read"))).not.toHaveProperty("now");
});
