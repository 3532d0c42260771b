import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import { recordRuns } from "@pi-subagents/runs";
import { expect, onTestFinished, test } from "vitest";
import {
	buildReport,
	knownSecrets,
	type RunCache,
	readRunDirs,
	readSessionRuns,
	withDescendants,
} from "../src/index.ts";
import { calls, NO_USAGE, returns, said, spent } from "./fixtures/runs.ts";

async function tempDir(): Promise<string> {
	const dir = await mkdtemp(join(tmpdir(), "report-test-"));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	return dir;
}

/** Two agents, one below the other, recorded as pi does it. */
async function recorded(): Promise<string> {
	const runsDir = join(await tempDir(), ".pi", "subagents", "runs");
	await mkdir(runsDir, { recursive: true });
	const [runner, clock] = [fakeRunner(), handClock(1_000)];
	let ids = 0;
	const manager = new Manager({ runners: { session: runner }, clock, newId: () => `a${++ids}` });
	const recorder = recordRuns({ store: manager.store, specOf: (id) => manager.specOf(id) });
	const base = { type: "scout", description: "look", task: "Look.", cwd: "/", runner: "session", model: "fake/one" };
	const spec = { ...base, tools: [], subagents: "*", limits: {}, origins: {}, warnings: [], runsDir } as RunSpec;
	manager.spawn(spec);
	const [boss] = runner.runs;
	clock.advance(100);
	for (const event of [said("On it."), spent({ input: 5, cost: 0.5 }), calls("c1", "Agent")]) boss?.emit(event);
	const { id } = manager.spawn(spec, { parentAgentId: "a1", callId: "c1" });
	clock.advance(1_000);
	runner.runs[1]?.emit(spent({ input: 7, cost: 0.25 }));
	runner.runs[1]?.answer("Found.");
	await manager.wait(id);
	boss?.emit(returns("c1", "Agent"));
	clock.advance(50);
	boss?.answer("Done.");
	await manager.wait("a1");
	await recorder.close();
	return runsDir;
}

test("recorded runs come back as a tree whose usage is that of the results", async () => {
	const { runs, problems } = await readRunDirs(await recorded());
	const { agents, usage } = buildReport(runs, { now: 9_999, problems });
	expect(problems).toEqual([]);
	expect(agents.map(({ id, parentId, answer }) => [id, parentId, answer])).toEqual([
		["a1", undefined, "Done."],
		["a2", "a1", "Found."],
	]);
	expect(agents[0]?.spans).toContainEqual(expect.objectContaining({ kind: "agents", start: 1_100, end: 2_100 }));
	expect(usage).toMatchObject({ input: 12, cost: 0.75 });
	expect(withDescendants(runs, "a2").map(({ agentId }) => agentId)).toEqual(["a2"]);
});

test("what cannot be read is a problem beside the rest", async () => {
	const dir = await recorded();
	await mkdir(join(dir, "broken"));
	await writeFile(join(dir, "broken", "meta.json"), "{");
	const { runs, problems } = await readRunDirs(dir);
	expect([runs.length, problems]).toEqual([2, [expect.stringContaining("meta.json is not the whole description")]]);
});

test("with a cache, only runs whose files changed are read again", async () => {
	const dir = await recorded();
	const cache: RunCache = new Map();
	const first = await readRunDirs(dir, { cache });
	await appendFile(join(dir, "a2", "events.jsonl"), `${JSON.stringify({ ...said("More."), at: 3_000, seq: 99 })}\n`);
	const second = await readRunDirs(dir, { cache });
	const byId = ({ runs }: typeof first, id: string) => runs.find(({ agentId }) => agentId === id);
	expect(byId(second, "a1")).toBe(byId(first, "a1"));
	expect(byId(second, "a2")?.lines).toHaveLength((byId(first, "a2")?.lines.length ?? 0) + 1);
});

const launchOf = (runId: string) => ({
	type: "launched",
	runId,
	agentId: runId,
	run: 1,
	preset: "scout",
	description: "look",
	task: "Look.",
	cwd: "/",
	runner: "session",
	isBackground: false,
	startedAt: 1_000,
});
const settledOf = (runId: string) => ({
	type: "settled",
	runId,
	durationMs: 1_000,
	turns: 1,
	toolUses: 0,
	usage: NO_USAGE,
});

test("a run that was cut off ends as the session says, though its files do not", async () => {
	const dir = await recorded();
	await rm(join(dir, "a2", "result.json"));
	const entry = (data: object) => ({ type: "custom", customType: "subagents:record", data });
	const launched = { ...launchOf("a2"), artifacts: join(dir, "a2") };
	const settled = { ...settledOf("a2"), status: "aborted", reason: "pi ended" };
	const reportOf = async (...entries: object[]) =>
		buildReport((await readSessionRuns(entries)).runs, { now: 9_999 }).agents.map(({ status }) => status);
	expect(await reportOf(entry(launched))).toEqual(["running"]);
	expect(await reportOf(entry(launched), entry({ ...settled, completedAt: 5_000 }))).toEqual(["aborted"]);
});

test("a session names its runs: with files they are read, without them the entries must do", async () => {
	const dir = await recorded();
	const launched = (runId: string, more: object) => ({
		type: "custom",
		customType: "subagents:record",
		data: { ...launchOf(runId), ...more },
	});
	const entries = [
		launched("a1", { artifacts: join(dir, "a1") }),
		launched("gone", { artifacts: "/etc/gone", task: "Lost.", runner: "workflow" }),
		{ ...launched("kid", { parentAgentId: "gone" }), customType: "subagents:nested" },
		{
			type: "custom",
			customType: "subagents:record",
			data: { ...settledOf("gone"), status: "failed", error: "No.", completedAt: 3_000, durationMs: 1_500 },
		},
		{ type: "custom", customType: "subagents:record", data: { type: "launched", runId: 7 } },
		null,
	];
	const { runs } = await readSessionRuns(entries);
	const { agents } = buildReport(runs, { now: 5_000 });
	expect(agents.map(({ id, parentId, status, endedAt }) => [id, parentId, status, endedAt])).toEqual([
		["a1", undefined, "completed", 2_150],
		["gone", undefined, "failed", 3_000],
		["kid", "gone", "queued", 5_000],
	]);
	expect(agents.map(({ runner }) => runner)).toEqual(["session", "workflow", "session"]);
});

test("keys of the environment and of pi's auth are known, ordinary words are not", async () => {
	const authFile = join(await tempDir(), "auth.json");
	await writeFile(authFile, JSON.stringify({ anthropic: { type: "api_key", key: "sk-from-auth" } }));
	const env = { OPENAI_API_KEY: "sk-from-env", HOME: "/home/ada", EMPTY_TOKEN: "" };
	expect(await knownSecrets({ env, authFile })).toEqual(["sk-from-env", "sk-from-auth"]);
	expect(await knownSecrets({ authFile: `${authFile}.missing` })).toEqual([]);
});

test("parts of variables that stand alone are known, too: passwords of addresses, of users and in JSON", async () => {
	const key = "-----BEGIN KEY-----\nabcdefghijklmnop\n-----END KEY-----\n";
	const env = {
		DATABASE_URL: "postgres://shop:p%40ssw0rd-1@db.example/shop",
		BASIC_AUTH: "ada:correct-horse",
		GOOGLE_CREDENTIALS: JSON.stringify({ type: "service_account", private_key: key }),
		DEPLOY_PASSPHRASE: "battery-staple",
		PATH: "/usr/bin:/bin",
	};
	expect(await knownSecrets({ env })).toEqual([
		...["p%40ssw0rd-1", "p@ssw0rd-1", "ada:correct-horse", "correct-horse"],
		...[env.GOOGLE_CREDENTIALS, key, "battery-staple"],
	]);
});

test("keys in pi's models.json are known, names of variables and commands are not", async () => {
	const modelsFile = join(await tempDir(), "models.json");
	const providers = {
		mine: { baseUrl: "https://llm.example", apiKey: "sk-in-models-1", headers: { "x-auth-token": "tok-in-models" } },
		other: { apiKey: "OTHER_API_KEY" },
		third: { apiKey: "!pass show llm" },
	};
	await writeFile(modelsFile, JSON.stringify({ providers }));
	expect(await knownSecrets({ modelsFile })).toEqual(["sk-in-models-1", "tok-in-models"]);
});
