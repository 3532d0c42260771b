/** `report`, `trace` and `replay` over runs as pi records them. */
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import { recordRuns } from "@pi-subagents/runs";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../src/index.ts";

/** A boss whose scout asks a question; and somebody else. */
async function world() {
	const temp = await createTempDir("pi-cli-report-");
	onTestFinished(temp.remove);
	const runsDir = join(temp.path, "shop", ".pi", "subagents", "runs");
	await mkdir(runsDir, { recursive: true });
	const [runner, clock] = [fakeRunner(), handClock(1_000_000)];
	const names = ["boss", "scout", "other"];
	let ids = 0;
	const manager = new Manager({ runners: { session: runner }, clock, newId: () => names[ids++] ?? "more" });
	const recorder = recordRuns({ store: manager.store, specOf: (id) => manager.specOf(id) });
	const base = { type: "lead", description: "tidy up", cwd: "/", runner: "session", model: "fake/one", limits: {} };
	const spec = { ...base, task: "Use sk-secret-of-the-env.", tools: [], origins: {}, warnings: [], runsDir } as RunSpec;
	manager.spawn(spec);
	const [boss] = runner.runs;
	clock.advance(100);
	boss?.emit({ type: "tool_call", callId: "c1", tool: "Agent", args: {} });
	manager.spawn({ ...spec, type: "scout", description: "look" }, { parentAgentId: "boss", callId: "c1" });
	clock.advance(400);
	runner.runs[1]?.emit({ type: "tool_call", callId: "r1", tool: "read", args: { path: "notes.md" } });
	const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cost: 0.25 };
	runner.runs[1]?.emit({ type: "usage", usage });
	clock.advance(1_000);
	runner.runs[1]?.answer("Found.");
	await manager.wait("scout");
	clock.advance(100);
	boss?.emit({ type: "tool_result", callId: "c1", tool: "Agent", isError: false });
	boss?.answer("Done.");
	await manager.wait("boss");
	clock.advance(3_600_000); // an hour in which nothing ran
	manager.spawn({ ...spec, type: "other" });
	runner.runs[2]?.settle({ status: "failed", error: "no credit" });
	await manager.wait("other");
	await recorder.close();
	const call = async (args: string[], more: { env?: object; tty?: boolean } = {}) => {
		let err = "";
		const stdout = new PassThrough(); // as real outputs do, it needs to know itself
		const terminal = more.tty ? { isTTY: true, columns: 80, rows: 24 } : {};
		const code = await run({
			args,
			env: { HOME: temp.path, MY_API_KEY: "sk-secret-of-the-env", NO_COLOR: "1", ...more.env },
			cwd: join(temp.path, "shop"),
			stdout: Object.assign(stdout, terminal),
			stderr: { write: (text) => (err += text) },
		});
		return { code, out: String(stdout.read() ?? ""), err };
	};
	return { call, runsDir, path: temp.path };
}

const idsIn = (html: string) =>
	JSON.parse(/id="report">(.*?)<\/script>/s.exec(html)?.[1] ?? "{}").agents.map(({ id }: { id: string }) => id);
const pathIn = ({ out }: { out: string }) => /: (\/.+)\n/.exec(out)?.[1] ?? "";

test("a report is written beside the runs, its path printed; a run stands for all below it", async () => {
	const { call, runsDir, path } = await world();
	const written = await call(["report"]);
	expect(written).toMatchObject({
		code: 0,
		out: expect.stringMatching(/^Report about 3 runs: \/.*\.html\n$/),
		err: "",
	});
	const html = await readFile(pathIn(written), "utf8");
	expect(idsIn(html)).toEqual(["boss", "scout", "other"]);
	expect(html).not.toContain("sk-secret-of-the-env");
	expect((await stat(pathIn(written))).mode & 0o777).toBe(0o600);
	expect(pathIn(written).startsWith(join(path, "shop/.pi/subagents/reports/"))).toBe(true);
	expect(await readFile(join(path, "shop/.pi/subagents/reports/.gitignore"), "utf8")).toContain("*");
	for (const [where, ids] of [
		[join(runsDir, "boss"), ["boss", "scout"]],
		["../shop", ["boss", "scout", "other"]],
		["scout", ["scout"]],
	] as const) {
		const out = join(path, "given.html");
		expect(await call(["report", where, "--out", out])).toMatchObject({ code: 0, out: expect.stringContaining(out) });
		expect(idsIn(await readFile(out, "utf8"))).toEqual(ids);
	}
});

test("a project cannot choose where its report is written", async () => {
	const { call, runsDir, path } = await world();
	await mkdir(join(path, "elsewhere"));
	await symlink(join(path, "elsewhere"), join(runsDir, "..", "reports"));
	expect(await call(["report"])).toMatchObject({ code: 1, err: expect.stringContaining("leads elsewhere") });
	expect(await readdir(join(path, "elsewhere"))).toEqual([]);
});

test("what cannot be reported is said", async () => {
	const { call, path, runsDir } = await world();
	await mkdir(join(path, "empty"));
	await writeFile(join(runsDir, "boss", "meta.json"), "{");
	expect(await call(["report", join(path, "empty")])).toMatchObject({
		code: 1,
		err: expect.stringContaining("There are no runs in"),
	});
	expect(await call(["report", join(runsDir, "boss")])).toMatchObject({
		code: 1,
		err: expect.stringContaining("meta.json is not"),
	});
	expect(await call(["report", "nobody"])).toMatchObject({
		code: 1,
		err: expect.stringContaining("No agent is called nobody"),
	});
	expect(await call(["replay", "--speed", "0"])).toMatchObject({ code: 2, err: expect.stringContaining("--speed") });
	expect(await call(["trace", "--send"])).toMatchObject({
		code: 1,
		err: expect.stringContaining("OTEL_EXPORTER_OTLP_ENDPOINT"),
	});
});

test("traces: a Chrome trace, OTLP in a file, and OTLP sent with the headers of the environment", async () => {
	const { call } = await world();
	const chrome = JSON.parse(await readFile(pathIn(await call(["trace"])), "utf8"));
	expect(chrome.traceEvents.filter(({ cat }: { cat: string }) => cat === "agent")).toHaveLength(3);
	const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
	const otlp = await readFile(pathIn(await call(["trace", "--otlp"], { env: { TRACEPARENT: traceparent } })), "utf8");
	expect(JSON.parse(otlp).resourceSpans[0].scopeSpans[0].spans[0].traceId).toBe("a".repeat(32));
	expect(otlp).not.toContain("no credit");
	const received: { key: unknown; body: string }[] = [];
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const part of request) body += part;
		received.push({ key: request.headers["x-key"], body });
		response.end("{}");
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	onTestFinished(() => void server.close());
	const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
	const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${host}`, OTEL_EXPORTER_OTLP_HEADERS: "x-key=sesame" };
	const sent = await call(["trace", "--send", "--content"], { env });
	expect(sent).toEqual({ code: 0, out: `Trace of 3 runs: sent to ${host}\n`, err: "" });
	expect(received).toMatchObject([{ key: "sesame", body: expect.stringContaining("no credit") }]);
});

test("a replay without a terminal prints the steps at their times, without the hour in which nothing ran", async () => {
	const { call } = await world();
	expect((await call(["replay"])).out.split("\n")).toEqual([
		"   0.1 s  lead: Running Agent",
		"   0.5 s  scout: Reading notes.md",
		"   1.5 s  scout: Found.",
		"   1.5 s  scout: completed",
		"   1.6 s  lead: Agent finished",
		"   1.6 s  lead: Done.",
		"   1.6 s  lead: completed",
		"   3.6 s  other: failed",
		"Replayed 3 runs: 3.6s, $0.25",
		"",
	]);
});

test("a replay in a terminal draws the tree that pi drew, in place, and gives the cursor back", async () => {
	const { call } = await world();
	const { code, out } = await call(["replay", "boss", "--speed", "5"], { tty: true });
	expect(code).toBe(0);
	const frames = out.split("\u001b[J");
	expect(frames.some((frame) => frame.includes("Reading notes.md") && /lead.*tidy up/.test(frame))).toBe(true);
	expect(out.startsWith("\u001b[?25l")).toBe(true);
	expect(out).toContain("\u001b[?25h");
	expect(frames.at(-1)).toMatch(/Replayed 2 runs: 1\.6s, \$0\.25\n$/);
});
