import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readInterrupted } from "../src/process/index.ts";

const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cost: 0.5 };
const lines = [
	{ type: "assistant_text", at: 1_000, text: "I look.", stopReason: "toolUse", model: "fake/fake-1" },
	{ type: "tool_call", at: 1_001, callId: "1", tool: "read", args: {} },
	{ type: "usage", at: 1_002, usage },
	{ type: "turn", at: 1_003 },
];

async function interrupted(log: string | undefined) {
	const dir = await mkdtemp(join(tmpdir(), "interrupted-"));
	if (log !== undefined) await writeFile(join(dir, "events.jsonl"), log);
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
