/** `/subagent dashboard` in real pi, read as a page does, and in a real browser. */
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buildReport, type Report } from "@pi-subagents/report";
import { serveDashboard } from "@pi-subagents/report/dashboard";
import {
	createTempDir,
	gatePis,
	isFullRun,
	type PiRpc,
	piUnderTest,
	requireTool,
	startRpc,
} from "@pi-subagents-dev/testkit";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, openPage, startBrowser } from "../../support/browser.ts";
import { hostile } from "../../support/report-runs.ts";
import { reportScene, runToQuestion, SECRET } from "../../support/report-scene.ts";
import { parentDelegates, scene, scoutReadsNotes } from "../../support/scene.ts";

const hasBrowser = requireTool(CHROMIUM);

/** Calls the command and returns the link of its notice. */
async function linkFrom(rpc: PiRpc, command = "/subagent dashboard"): Promise<string> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message: command });
	const notice = await rpc.waitFor((event) => /127\.0\.0\.1/.test(JSON.stringify(event)), { from });
	expect(notice).toMatchObject({ type: "extension_ui_request", method: "notify" });
	return /http:\/\/127\.0\.0\.1:\d+\/#[\w-]+/.exec(JSON.stringify(notice))?.[0] ?? "";
}

test.each(await gatePis())(
	"pi $version: the dashboard follows the session, its token is kept nowhere, and it ends with the session",
	async (pi) => {
		await using it = await scene([parentDelegates, scoutReadsNotes]);
		await using rpc = startRpc({ env: it.env, pi });
		const link = await linkFrom(rpc);
		const [base = "", token = ""] = link.split("/#");
		expect(await linkFrom(rpc)).toBe(link); // the one that is open
		expect((await fetch(`${base}/live`, { headers: { authorization: "Bearer no" } })).status).toBe(401);
		const response = await fetch(`${base}/live`, { headers: { authorization: `Bearer ${token}` } });
		const text = response.text(); // ends when the session does
		await rpc.prompt("Please delegate.");
		await rpc.close();
		const lines = (await text)
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line));
		const reports = lines.filter(({ type }) => type === "report").map(({ report }): Report => report);
		expect(reports[0]?.agents).toEqual([]);
		expect(reports.at(-1)?.agents).toMatchObject([{ preset: "repo-scout", status: "completed" }]);
		expect(JSON.stringify(lines)).not.toContain('read","args'); // as in a report that is not full
		expect(lines.at(-1)).toEqual({ type: "end" });
		await expect(fetch(base)).rejects.toThrow();
		expect(await textsBelow(it.env.root)).not.toContain(token);
	},
);

if (isFullRun)
	describe.skipIf(!hasBrowser)("in a browser", () => {
		let browser: Browser;
		beforeAll(async () => {
			browser = await startBrowser();
		});
		afterAll(() => browser.close());

		/** `PICTURES=docs/images` keeps them: they are the pictures of `docs/report.md`. */
		test("a real run is followed from nothing to its end, at every width, light and dark", async () => {
			await using temp = await createTempDir();
			const target = process.env.PICTURES ?? temp.path;
			await using it = await reportScene();
			await using rpc = startRpc({ env: it.env, pi: piUnderTest() });
			const link = await linkFrom(rpc);
			await using first = await openPage(browser, link, { viewport: { width: 1280, height: 640 } });
			const { page } = first;
			await page.waitForSelector('.none:has-text("No agents yet")');
			const answer = await runToQuestion(rpc);
			await page.click('.row:has-text("explorer")');
			await page.waitForSelector('.details:has-text("waiting for a person")');
			for (const width of [480, 900, 1280])
				for (const colorScheme of ["light", "dark"] as const) {
					await using other = await openPage(browser, link, { viewport: { width, height: 640 }, colorScheme });
					await other.page.waitForSelector('.row:has-text("reviewer") .sign.failed');
					await other.page.screenshot({ path: join(target, `dashboard-${colorScheme}-${width}.png`) });
					expect(await other.page.textContent(".sums")).toContain("live");
					expect(await other.page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
					expect([other.requests, other.incidents]).toEqual([[link.replace(/#.*/, "live")], []]);
				}
			// What is chosen stays chosen while the tree grows.
			const chosen = await page.getAttribute(".row.selected", "id");
			await answer();
			await page.waitForSelector('.row:has-text("lead") .sign.completed');
			expect(await page.locator(".row").count()).toBe(5);
			expect(await page.getAttribute(".row.selected", "id")).toBe(chosen);
			await page.keyboard.press("Home");
			await page.keyboard.press("Enter");
			expect(await page.textContent(".details")).toContain("[masked]");
			expect(await page.content()).not.toContain(SECRET);
			await rpc.close();
			await page.waitForSelector('.sums:has-text("the session has ended")');
			expect(await page.locator(".row").count()).toBe(5); // it stays readable
			expect([first.requests, first.incidents]).toEqual([[link.replace(/#.*/, "live")], []]);
		});

		test("hostile text runs nothing and requests nothing; a hidden page has no stream; a wrong token shows why", async () => {
			await using it = await served();
			await using watched = await openPage(browser, it.link);
			const { page } = watched;
			await page.waitForSelector(".row");
			expect(await page.textContent(".details")).toContain("<img src=x onerror=alert(1)>");
			expect(await page.evaluate("document.images.length + document.scripts.length + document.links.length")).toBe(1);
			expect([watched.requests, watched.incidents]).toEqual([[it.link.replace(/#.*/, "live")], []]);
			await page.evaluate(`Object.defineProperty(document, "hidden", { value: true, configurable: true });
			document.dispatchEvent(new Event("visibilitychange"))`);
			await expect.poll(() => it.readers()).toBe(0);
			await page.evaluate(`Object.defineProperty(document, "hidden", { value: false });
			document.dispatchEvent(new Event("visibilitychange"))`);
			await expect.poll(() => it.readers()).toBe(1);
			await using other = await openPage(browser, it.link.replace(/#.*/, "#wrong"));
			await other.page.waitForSelector('.sums:has-text("no longer valid")');
			expect(await other.page.locator(".row").count()).toBe(0);
		});

		test("a page of another origin can neither frame it nor read it", async () => {
			await using it = await served();
			const [base = "", token = ""] = it.link.split("/#");
			const server = createServer((_request, response) => {
				response.setHeader("content-type", "text/html");
				response.end(`<iframe src="${it.link}"></iframe><script src="${base}/"></script>`);
			});
			await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
			try {
				const evil = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
				await using watched = await openPage(browser, evil);
				const attempt = `fetch("${base}/live", { headers: { authorization: "Bearer ${token}" } }).then(() => "read", () => "refused")`;
				expect(await watched.page.evaluate(attempt)).toBe("refused");
				const simple = `fetch("${base}/live", { mode: "no-cors" }).then(({ type, body }) => type + body, () => "refused")`;
				expect(["refused", "opaquenull"]).toContain(await watched.page.evaluate(simple));
				const [, frame] = watched.page.frames();
				expect(await frame?.locator(".row, .top").count()).toBe(0);
				expect(it.readers()).toBe(0);
			} finally {
				server.close();
				server.closeAllConnections();
			}
		});
	});

/** A dashboard of a run whose every text is hostile. */
async function served() {
	const report = buildReport([hostile()], { now: 0, isFull: true });
	const source = { read: async () => report, watch: () => () => undefined };
	const dashboard = await serveDashboard({ source });
	return { ...dashboard, [Symbol.asyncDispose]: () => dashboard.close() };
}

async function textsBelow(dir: string): Promise<string> {
	const entries = await readdir(dir, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	return (await Promise.all(files.map((file) => readFile(file, "latin1")))).join("\n");
}
