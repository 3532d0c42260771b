import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { systemClock } from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import { proveResult, RUN_FILES } from "@pi-subagents/runs";
import { expect, onTestFinished, test } from "vitest";
import { FarRun } from "../../src/far/far-run.ts";
import type { Piece } from "../../src/link/link.ts";
import { Channel } from "../../src/stdio/channel.ts";

async function runDir(): Promise<string> {
	const dir = await mkdtemp(join(tmpdir(), "far-run-"));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	return dir;
}

function resultText(outcome: object): string {
	return JSON.stringify({
		...{ format: 1, runId: "a1", agentId: "a1", run: 1, writtenBy: "wrapper", startedAt: 1, completedAt: 2 },
		outcome,
		...{ turns: 1, toolUses: 0, usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 } },
	});
}

test("a result that is too long for the connection is not waited for", async () => {
	const dir = await runDir();
	await writeFile(join(dir, RUN_FILES.result), resultText({ status: "completed", text: "x".repeat(9 * 1024 * 1024) }));
	const wire = new PassThrough();
	const heard: Piece[] = [];
	const handlers = { piece: (body: unknown) => void heard.push(body as Piece) };
	new Channel({ input: wire, output: new PassThrough(), handlers, onClosed: () => undefined });
	const channel = new Channel({ input: new PassThrough(), output: wire, handlers: {}, onClosed: () => undefined });
	const run = await FarRun.open({
		...{
			agentDir: join(dir, "agent"),
			dir,
			key: "a1",
			home: dir,
			marks: {},
			clock: systemClock,
			report: () => undefined,
		},
		...{ kept: undefined, trustsFiles: () => true },
		send: (piece) => channel.notify("piece", piece),
	});
	onTestFinished(() => run.close());
	await expect.poll(() => heard.map(({ type }) => type)).toEqual(["control", "gone"]);
	expect(heard.at(-1)).toMatchObject({ why: expect.stringMatching(/^its result could not be sent: .* too long/) });
});

const told = resultText({ status: "failed", error: "Not verified: false exited with code 1" });
test.each<[string, { how: string; lastLine?: string }, object]>([
	["says another one", { how: "it ended with exit code 0", lastLine: told }, { type: "result", text: told }],
	["is killed", { how: "it was killed by SIGKILL" }, { type: "gone", why: "it was killed by SIGKILL" }],
])(
	"where work is verified, a result that the agent wrote does not count if its wrapper %s",
	async (_how, end, last) => {
		const dir = await runDir();
		await writeFile(join(dir, RUN_FILES.result), resultText({ status: "completed", text: "Mended." }));
		const ended = Promise.resolve(end);
		const heard: Piece[] = [];
		const run = await FarRun.open({
			...{
				agentDir: join(dir, "agent"),
				dir,
				key: "a1",
				home: dir,
				marks: {},
				clock: systemClock,
				report: () => undefined,
			},
			...{ kept: { ended, endNow: () => undefined, letGo: () => undefined }, trustsFiles: () => false },
			send: async (piece) => void heard.push(piece),
		});
		onTestFinished(() => run.close());
		await expect.poll(() => heard).toHaveLength(2);
		expect(heard[1]).toMatchObject(last);
	},
);

test.each([
	["a file that says so is not enough", false, { status: "failed" }],
	["a file that its wrapper proves is", true, { status: "completed", verification: { ok: true } }],
])("where work is verified and the worker was started again, %s", async (_what, isOurs, outcome) => {
	const dir = await runDir();
	const agentDir = join(dir, "agent");
	const base = { task: "x", cwd: dir, tools: [] };
	const verify = { command: "npm test", repairs: 0 };
	const spec = { ...sampleSpec, runner: "process", verify };
	const about = { format: 1, createdBy: "pi-subagents", runId: "a1", agentId: "a1", run: 1, createdAt: 1 };
	const meta = { ...about, preset: "scout", ...base, resolvedModel: "fake/one", spec };
	await writeFile(join(dir, RUN_FILES.meta), JSON.stringify(meta));
	const text = resultText({ status: "completed", text: "Mended.", verification: { ok: true, command: "npm test" } });
	if (isOurs) await proveResult({ agentDir, runDir: dir }, text);
	await writeFile(join(dir, RUN_FILES.result), text);
	const heard: Piece[] = [];
	const run = await FarRun.open({
		...{ agentDir, dir, key: "a1", home: dir, marks: {}, clock: systemClock, report: () => undefined },
		...{ kept: undefined, trustsFiles: () => true },
		send: async (piece) => void heard.push(piece),
	});
	onTestFinished(() => run.close());
	await expect.poll(() => heard).toHaveLength(2);
	const [, last] = heard;
	expect(JSON.parse(last?.type === "result" ? last.text : "{}")).toMatchObject({ outcome });
});
