import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readInterrupted } from "../src/index.ts";

const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cost: 0.5 };
const lines = [
	{ type: "assistant_text", at: 1_000, text: "I look.", stopReason: "toolUse", model: "fake/fake-1" },
	{ type: "tool_call", at: 1_001, callId: "1", tool: "read", args: {} },
	{ type: "usage", at: 1_002, usage },
	{ type: "turn", at: 1_003 },
];

async function interrupted(log: string | undefined, meta?: object) {
	const dir = await mkdtemp(join(tmpdir(), "interrupted-"));
	if (log !== undefined) await writeFile(join(dir, "events.jsonl"), log);
	if (meta) await writeFile(join(dir, "meta.json"), JSON.stringify(meta));
	try {
		return await readInterrupted(dir, { agentId: "a1", run: 1 }, { by: "shutdown" });
	} finally {
		await rm(dir, { recursive: true });
	}
}

test("a run that nobody brought to its end is what its log proves, as of its last line", async () => {
	const log = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
	expect(await interrupted(log)).toMatchObject({
		runId: "a1",
		outcome: { status: "aborted", by: "shutdown", partialText: "I look." },
		startedAt: 1_000,
		completedAt: 1_003,
		turns: 1,
		toolUses: 1,
		usage,
	});
});

test("lines that are garbled or cut off are passed over", async () => {
	const log = `garbage\n${JSON.stringify(lines[0])}\n{"type":"turn"}\n${JSON.stringify(lines[3])}\n{"type":"tu`;
	expect(await interrupted(log)).toMatchObject({ turns: 1, toolUses: 0, completedAt: 1_003 });
});

test("without a log nothing is proved", async () => {
	expect([await interrupted(undefined), await interrupted(""), await interrupted("\0\0")]).toEqual(
		Array.from({ length: 3 }, () => undefined),
	);
});

const answered = [
	...lines,
	{ type: "assistant_text", at: 1_004, text: '{"doors":2}', stopReason: "stop" },
	{ type: "idle", at: 1_005 },
];
const output = { schema: { type: "object", required: ["windows"] }, repairs: 0 };
const meta = (more: object = {}) => ({
	...{ format: 1, createdBy: "pi-subagents", runId: "a1", agentId: "a1", run: 1, createdAt: 1, preset: "scout" },
	...{ task: "Look.", cwd: "/project", tools: [], resolvedModel: "fake/one" },
	spec: {
		...{ type: "scout", description: "look", task: "Look.", cwd: "/project", runner: "session", model: "fake/one" },
		...{ tools: [], limits: {}, origins: {}, warnings: [], ...more },
	},
});

test("one that had nothing left to do has answered, if the answer is what was asked for", async () => {
	const log = answered.map((line) => `${JSON.stringify(line)}\n`).join("");
	expect(await interrupted(log, meta())).toMatchObject({
		outcome: { status: "completed", text: '{"doors":2}' },
		completedAt: 1_005,
	});
	expect((await interrupted(log, meta({ output })))?.outcome).toMatchObject({
		status: "failed",
		partialText: '{"doors":2}',
	});
	// Nobody knows what it had to match.
	expect((await interrupted(log))?.outcome).toEqual({ status: "aborted", by: "shutdown", partialText: '{"doors":2}' });
});
