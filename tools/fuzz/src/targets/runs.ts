/** The files of runs in any state, and whatever is made from them: lists, reports, traces, the index of projects. */
import { strict as assert } from "node:assert";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { sampleSpec } from "@pi-subagents/core/testing";
import { buildReport, chromeTrace, htmlWith, readRunDirs } from "@pi-subagents/report";
import {
	findRunsDirs,
	listRuns,
	readEvents,
	readInterrupted,
	readLineRange,
	readMeta,
	readResult,
	readToolOutputs,
	readWrapper,
	runTextOf,
} from "@pi-subagents/runs";
import fc from "fast-check";
import { readWorktreeRecords } from "../../../../packages/worktree/src/worktree-record.ts";
import { changedFile } from "../mutate.ts";
import { presentable, type Target, target, unpolluted } from "../target.ts";

const AT = 1_700_000_000_000;
const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cost: 0.01 };
const meta = {
	...{ format: 1, createdBy: "pi-subagents", runId: "a1", agentId: "a1", run: 1, createdAt: AT, queuedAt: AT },
	...{ launchedBy: { who: "model", callId: "c1" }, depth: 1, name: "n", isBackground: true, preset: "scout" },
	...{ task: "Look.", cwd: "/project", tools: ["read"], resolvedModel: "fake/one" },
	spec: {
		...sampleSpec,
		limits: { maxTurns: 5 },
		verify: { command: "true" },
		output: { schema: { type: "object" }, retries: 1 },
	},
	launch: { command: "pi", args: ["--mode", "rpc"], env: { A: "b" }, showsProgress: false },
};
const result = {
	...{ format: 1, runId: "a1", agentId: "a1", run: 1, writtenBy: "wrapper", finalText: "All good." },
	...{
		outcome: { status: "completed", text: "All good." },
		startedAt: AT,
		completedAt: AT + 5,
		turns: 1,
		toolUses: 1,
		usage,
	},
};
const events = [
	{ at: AT, type: "agent_queued" },
	{ at: AT, type: "child_started", pid: 99, born: "1", host: "h", boot: null },
	{ at: AT, seq: 1, type: "agent_started" },
	{ at: AT + 1, seq: 2, type: "tool_call", tool: "read", callId: "c", args: { path: "x" } },
	{ at: AT + 2, seq: 3, type: "tool_result", tool: "read", callId: "c", isError: false },
	{ at: AT + 2, seq: 4, type: "question", id: "q1", question: "What now?", defaultAnswer: "go on" },
	{ at: AT + 3, seq: 5, type: "assistant_text", text: "All good." },
	{ at: AT + 3, seq: 6, type: "turn", usage },
	{ at: AT + 4, seq: 7, type: "verified", verification: { ok: true, command: "true", durationMs: 1 } },
	{ at: AT + 4, seq: 8, type: "idle" },
].map((line) => JSON.stringify(line));
const conversation = [
	{ type: "session", id: "s", cwd: "/x" },
	{
		type: "message",
		id: "m",
		message: { role: "toolResult", toolCallId: "c", content: [{ type: "text", text: "x" }] },
	},
].map((line) => JSON.stringify(line));
const wrapper = { type: "started", at: AT, pid: 99, born: "1", host: "h", boot: "b", space: null };

const FILES: Record<string, string> = {
	"meta.json": JSON.stringify(meta),
	"result.json": JSON.stringify(result),
	"events.jsonl": `${events.join("\n")}\n`,
	"child-session.jsonl": `${conversation.join("\n")}\n`,
	"wrapper.json": JSON.stringify(wrapper),
	"owner-1.json": JSON.stringify({ ...wrapper, type: "owned", sessionId: "s" }),
};

/** A few of the files are changed, the others as they should be. */
const changedRun = fc
	.subarray(Object.keys(FILES), { minLength: 1, maxLength: 3 })
	.chain((names) =>
		fc
			.tuple(...names.map((name) => changedFile([FILES[name] ?? ""])))
			.map((contents) => new Map(names.map((name, index) => [name, contents[index]]))),
	);

const root = join(tmpdir(), `pi-fuzz-runs-${process.pid}`);
const runs = join(root, ".pi", "subagents", "runs");
const dir = join(runs, "a1");

export const runTargets: Target[] = [
	target(
		"a run whose files are in any state can be listed, read, recovered and reported",
		changedRun,
		async (changed) => {
			await mkdir(dir, { recursive: true });
			for (const [name, text] of Object.entries(FILES)) await writeFile(join(dir, name), changed.get(name) ?? text);
			const found = await readMeta(dir);
			if (typeof found === "string") assert.ok(found.startsWith(join(dir, "meta.json")), found);
			else assert.match(found.runId, /^[\w-][\w.-]*$/);
			const read = await readResult(dir);
			if (read) assert.match(read.runId, /^[\w-][\w.-]*$/);
			await readWrapper(dir);
			for (const event of await readEvents(dir)) assert.equal(typeof event.at, "number");
			await readToolOutputs(dir);
			const recovered = await readInterrupted(dir, { agentId: "a1", run: 1 }, { by: "shutdown" });
			if (recovered?.outcome.status === "completed" && typeof found !== "string" && found.spec.verify)
				assert.ok(
					"skipped" in found.spec.verify || recovered.outcome.verification?.ok === true,
					"completed without its check",
				);
			await readLineRange(join(dir, "events.jsonl"), { from: 1, count: 3 } as never).catch(onlyPlain);
			const { runs: listed, problems } = await listRuns([runs], { agentDir: join(runs, "agent"), now: AT + 10 });
			for (const problem of problems) presentable(problem, 4_000);
			for (const run of listed)
				for (const text of Object.values(runTextOf(run, AT + 10)))
					if (typeof text === "string") presentable(text.replaceAll("\n", ""), 100_000);
			const inputs = await readRunDirs(runs);
			const report = buildReport(inputs.runs, { now: AT + 10, isFull: true });
			const html = htmlWith(report, { script: "", style: "" });
			const data = /<script type="application\/json" id="report">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? "";
			assert.deepEqual(JSON.parse(data).agents.length, report.agents.length);
			JSON.stringify(chromeTrace(report));
			unpolluted();
		},
	),
	target(
		"the index of projects leads only to directories of runs that are ours",
		changedFile([`${runs}\n`, "/etc\n"]),
		async (bytes) => {
			const index = join(root, "agent", "state", "subagents", "projects");
			await mkdir(index, { recursive: true });
			await mkdir(runs, { recursive: true });
			await writeFile(join(index, "0123456789abcdef"), bytes);
			for (const found of await findRunsDirs({ agentDir: join(root, "agent"), cwd: root }))
				assert.ok(normalize(found) === runs || found.includes("pi-subagents-"), `it led to ${JSON.stringify(found)}`);
		},
	),
	target(
		"a record of a worktree names only its own directory",
		changedFile([
			JSON.stringify({
				format: 1,
				root: join(root, "worktrees", "w1"),
				main: "/x",
				gitDir: "/x/.git",
				branch: "b",
				base: "c",
			}),
		]),
		async (bytes) => {
			const worktrees = join(root, "worktrees");
			await mkdir(worktrees, { recursive: true });
			await writeFile(join(worktrees, "w1.json"), bytes);
			for (const record of await readWorktreeRecords(worktrees)) assert.equal(record.root, join(worktrees, "w1"));
		},
	),
];

function onlyPlain(error: unknown): void {
	if (!(error instanceof Error)) throw error;
	presentable(error.message, 4_000);
}

export async function removeRuns(): Promise<void> {
	await rm(root, { recursive: true, force: true, maxRetries: 3 });
}
