import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { leadsInto } from "../../../../core/src/file-guards/path-guard.ts";
import { piCommand } from "../../../src/process/pi/pi-command.ts";
import {
	parseAnswer,
	parseReply,
	parseRequest,
	requestTitle,
	type TunnelRequest,
} from "../../../src/process/pi/tunnel.ts";

test.each<TunnelRequest>([
	{ ask: "begin" },
	{ ask: "loop" },
	{ ask: "turn_end", goesOn: true, contextPercent: 12 },
	{ ask: "turn_end", goesOn: false },
	{ ask: "question", question: { question: "Which?", context: "two", defaultAnswer: "this", timeoutMs: 5 } },
	{ ask: "question", question: { question: "Which?" } },
])("a request comes out of the tunnel as it went in: $ask", (request) => {
	expect(parseRequest(requestTitle(request))).toEqual(request);
});

test.each([
	"Your name?",
	"pi-subagents:",
	"pi-subagents:null",
	"pi-subagents:{",
	'pi-subagents:{"ask":"dance"}',
	'pi-subagents:{"ask":"question","question":{"question":7}}',
	'pi-subagents:{"ask":"question"}',
	undefined,
	7,
])("what is no request of ours is none: %j", (title) => {
	expect(parseRequest(title)).toBeUndefined();
});

test("a dialog that was cancelled lets the child go on, and is nobody's answer", () => {
	expect([parseReply(undefined), parseReply("wrap_up"), parseReply("dance")]).toEqual(["go", "wrap_up", "go"]);
	expect([undefined, "{", "null", '{"by":"dog","text":"woof"}', '{"by":"user"}'].map(parseAnswer)).toEqual(
		Array(5).fill({ by: "nobody" }),
	);
	expect(parseAnswer('{"by":"agent","text":"this"}')).toEqual({ by: "agent", text: "this" });
});

test("a path is within a directory wherever links lead, and also before it exists", async () => {
	await using root = await createTempDir();
	const at = (...parts: string[]) => join(root.path, ...parts);
	const dir = at("runs", "a1");
	await mkdir(dir, { recursive: true });
	await mkdir(at("project"));
	await symlink(at("runs"), at("project", "link"));
	await symlink(join(dir, "later.json"), at("project", "dangling"));
	await symlink(at("project", "dangling"), at("project", "twice"));
	await symlink("circle", at("project", "circle"));
	const inside = [dir, join(dir, "x"), join(dir, "new", "x"), at("project", "link", "a1", "x")];
	expect([...inside, at("project", "dangling"), at("project", "twice")].map((path) => leadsInto(dir, path))).toEqual(
		Array(6).fill(true),
	);
	const outside = [at("runs"), at("runs", "a10"), at("runs", "..a1"), at("project", "x"), at("project", "circle"), "/"];
	expect(outside.map((path) => leadsInto(dir, path))).toEqual(Array(6).fill(false));
});

test.each([
	["a script", "/usr/bin/node", "/opt/pi/cli.js", { command: "/usr/bin/node", args: ["/opt/pi/cli.js"] }],
	["a compiled program", "/opt/pi/pi", "/$bunfs/root/cli.js", { command: "/opt/pi/pi", args: [] }],
	["a script that is gone", "/usr/bin/node", "/gone.js", { command: "pi", args: [] }],
	["a script that is gone, in Bun on Windows", "bun.exe", "/gone.js", { command: "pi", args: [] }],
	["no script", "/usr/bin/node", undefined, { command: "pi", args: [] }],
])("pi is started as it was: %s", (_what, execPath, script, command) => {
	const argv = script === undefined ? [execPath] : [execPath, script];
	expect(piCommand({ execPath, argv }, (path) => path !== "/gone.js")).toEqual(command);
});
