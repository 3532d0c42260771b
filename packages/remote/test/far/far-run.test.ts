import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { systemClock } from "@pi-subagents/core";
import { RUN_FILES } from "@pi-subagents/core/runs";
import { expect, onTestFinished, test, vi } from "vitest";
import { FarRun } from "../../src/far/far-run.ts";
import type { Piece } from "../../src/link/link.ts";
import { Channel } from "../../src/stdio/channel.ts";

test("a result that is too long for the connection is not waited for", async () => {
	const dir = await mkdtemp(join(tmpdir(), "far-run-"));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	const result = {
		...{ format: 1, runId: "a1", agentId: "a1", run: 1, writtenBy: "wrapper", startedAt: 1, completedAt: 2 },
		outcome: { status: "completed", text: "x".repeat(9 * 1024 * 1024) },
		...{ turns: 1, toolUses: 0, usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 } },
	};
	await writeFile(join(dir, RUN_FILES.result), JSON.stringify(result));
	const wire = new PassThrough();
	const heard: Piece[] = [];
	const handlers = { piece: (body: unknown) => void heard.push(body as Piece) };
	new Channel({ input: wire, output: new PassThrough(), handlers, onClosed: () => undefined });
	const channel = new Channel({ input: new PassThrough(), output: wire, handlers: {}, onClosed: () => undefined });
	const run = await FarRun.open({
		...{ dir, key: "a1", home: dir, marks: {}, kept: undefined, clock: systemClock, report: () => undefined },
		send: (piece) => channel.notify("piece", piece),
	});
	onTestFinished(() => run.close());
	await vi.waitFor(() => expect(heard.map(({ type }) => type)).toEqual(["control", "gone"]), { timeout: 10_000 });
	expect(heard.at(-1)).toMatchObject({ why: expect.stringMatching(/^its result could not be sent: .* too long/) });
}, 20_000);
