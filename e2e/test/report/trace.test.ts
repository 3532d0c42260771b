/** `/subagent trace` in real pi: to a file, which speedscope reads, and to a collector that the environment names. */
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildReport, chromeTrace } from "@pi-subagents/report";
import { createTempDir, isFullRun, type PiRpc, piUnderTest, requireTool, startRpc } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { CHROMIUM, openPage, startBrowser } from "../../support/browser.ts";
import { crowd } from "../../support/report-runs.ts";
import { parentDelegates, scene, scoutReadsNotes } from "../../support/scene.ts";

/** What a command tells the user. */
async function told(rpc: PiRpc, command: string): Promise<string> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message: command });
	const notice = await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "notify", {
		from,
	});
	return "message" in notice ? String(notice.message) : "";
}

test("agents of a session become a Chrome trace, and OpenTelemetry spans at the collector", async () => {
	const received: { key: unknown; body: string }[] = [];
	const collector = createServer(async (request, response) => {
		let body = "";
		for await (const part of request) body += part;
		received.push({ key: request.headers["x-key"], body });
		response.end("{}");
	});
	await new Promise<void>((done) => collector.listen(0, "127.0.0.1", done));
	onTestFinished(() => void collector.close());
	const host = `127.0.0.1:${(collector.address() as AddressInfo).port}`;
	const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${host}`, OTEL_EXPORTER_OTLP_HEADERS: "x-key=sesame" };
	await using it = await scene([parentDelegates, scoutReadsNotes], { variables });
	await using rpc = startRpc({ env: it.env, pi: piUnderTest() });
	await rpc.prompt("Please delegate.");
	const traced = async (command: string) => {
		const path = /Trace of 1 run: (.+\.chrome\.json)/.exec(await told(rpc, command))?.[1] ?? "";
		const text = await readFile(path, "utf8");
		const { traceEvents } = JSON.parse(text);
		const names = traceEvents.flatMap(({ ph, name }: { ph: string; name: string }) => (ph === "X" ? [name] : []));
		return { names, text };
	};
	const brief = await traced("/subagent trace");
	expect(brief.names).toEqual(expect.arrayContaining(["repo-scout", "model", "read"]));
	expect(brief.text).not.toMatch(/launch code|heliotrope|notes\.txt/);
	expect((await traced("/subagent trace --content")).names).toContain("Find the launch code.");
	expect(await told(rpc, "/subagent trace --send")).toContain(`Trace of 1 run: sent to ${host}`);
	expect(received).toMatchObject([{ key: "sesame", body: expect.stringContaining("invoke_agent repo-scout") }]);
	expect(received[0]?.body).not.toContain("heliotrope");
	expect(await told(rpc, "/subagent trace --sent")).toContain("use /subagent trace [id|all]");
});

if (isFullRun)
	test.skipIf(!requireTool(CHROMIUM))("speedscope reads the Chrome trace", async () => {
		await using temp = await createTempDir();
		const trace = JSON.stringify(chromeTrace(buildReport(crowd(3, 6), { now: 0 })));
		const local = join(temp.path, "profile.js"); // how speedscope opens a file without a server
		const data = Buffer.from(trace).toString("base64");
		await writeFile(local, `speedscope.loadFileFromBase64("agents.json", "${data}")`);
		const app = join(dirname(fileURLToPath(import.meta.resolve("speedscope/package.json"))), "dist/release/index.html");
		const browser = await startBrowser();
		try {
			const url = `${pathToFileURL(app).href}#localProfilePath=${local}`;
			await using it = await openPage(browser, url);
			await it.page.waitForSelector("text=/\\(1\\/3\\)/"); // one profile for each thread
			expect(await it.page.textContent("body")).toContain("scout a0");
			await it.page.keyboard.press("n");
			await it.page.waitForSelector("text=/\\(2\\/3\\)/");
			expect(await it.page.textContent("body")).toContain("scout a1");
			expect(it.incidents.filter((each) => each.startsWith("error"))).toEqual([]);
		} finally {
			await browser.close();
		}
	});
