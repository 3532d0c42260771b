/** `/subagent report` in real pi, and its page in a real browser. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { buildReport, type Report, writeHtmlReport } from "@pi-subagents/report";
import { createTempDir, isFullRun, piUnderTest, requireTool, slowdown } from "@pi-subagents-dev/testkit";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, openFile, startBrowser } from "../../support/browser.ts";
import { crowd, hostile } from "../../support/report-runs.ts";
import { BASIC, reportScene, runAndReport, SECRET } from "../../support/report-scene.ts";

const hasBrowser = requireTool(CHROMIUM);

function reportIn(html: string): Report {
	return JSON.parse(/<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html)?.[1] ?? "null");
}

test("three levels with a question, a failure, a retry and a worktree are in the report, without secrets", async () => {
	await using it = await reportScene();
	const path = await runAndReport(it, await piUnderTest());
	expect((await stat(path)).mode & 0o777).toBe(0o600);
	expect(await it.git("status", "--porcelain")).toBe("");
	const html = await readFile(path, "utf8");
	expect(html).not.toContain(SECRET);
	expect(html).not.toContain(BASIC.slice(8));
	const { agents, criticalPath } = reportIn(html);
	const parentOf = ({ parentId }: { parentId?: string }) => agents.find(({ id }) => id === parentId)?.preset;
	expect(agents.map((agent) => [agent.preset, parentOf(agent), agent.status])).toEqual([
		["lead", undefined, "completed"],
		["explorer", "lead", "completed"],
		["reviewer", "lead", "failed"],
		["fixer", "lead", "completed"],
		["tester", "fixer", "completed"],
	]);
	const kindsOf = (preset: string) => agents.find((agent) => agent.preset === preset)?.spans.map(({ kind }) => kind);
	expect(kindsOf("lead")?.filter((kind) => kind === "agents")).toHaveLength(3);
	expect(kindsOf("explorer")).toEqual(expect.arrayContaining(["model", "tool", "person"]));
	expect(kindsOf("fixer")).toEqual(expect.arrayContaining(["retry", "agents"]));
	expect(agents[0]?.answer).toContain("[masked]");
	expect(agents[3]).toMatchObject({ worktree: { files: 1, insertions: 1 } });
	expect(agents[3]).not.toHaveProperty("diff");
	expect(agents[4]).toMatchObject({ structured: { ok: true, data: { passed: 2, failed: [] } } });
	expect(JSON.stringify(agents)).not.toContain("export const parse"); // file contents are not in it
	expect(criticalPath.map(({ id }) => agents.find((agent) => agent.id === id)?.preset)).toEqual([
		"lead",
		"explorer",
		"lead",
		"fixer",
		"tester",
		"fixer",
		...(criticalPath.length > 6 ? ["lead"] : []),
	]);
});

test("the script of the page has at most 30 KB, compressed", async () => {
	const root = dirname(fileURLToPath(import.meta.resolve("@pi-subagents/report/package.json")));
	expect(gzipSync(await readFile(join(root, "dist", "page.js"))).length).toBeLessThan(30_000);
});

describe.skipIf(!hasBrowser)("in a browser", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await startBrowser();
	});
	afterAll(() => browser.close());

	test("hostile text in every field runs nothing, requests nothing, and is shown as text", async () => {
		await using temp = await createTempDir();
		const path = await writeHtmlReport(buildReport([hostile()], { now: 0, isFull: true }), join(temp.path, "r.html"));
		await using it = await openFile(browser, path);
		await it.page.waitForSelector(".row");
		expect(await it.page.textContent(".details")).toContain("<img src=x onerror=alert(1)>");
		expect(await it.page.evaluate("document.images.length + document.scripts.length + document.links.length")).toBe(2);
		await it.page.keyboard.press("/");
		await it.page.keyboard.type("onerror");
		await it.page.waitForSelector(".row");
		expect([it.requests, it.incidents]).toEqual([[], []]);
	});

	/** `PICTURES=docs/images` keeps them: they are the pictures of `docs/report.md`. */
	if (isFullRun)
		test("the report of a real run is readable at every width, light and dark", async () => {
			await using temp = await createTempDir();
			const target = process.env.PICTURES ?? temp.path;
			await using scene = await reportScene();
			const path = await runAndReport(scene, await piUnderTest(), "/subagent report --full");
			for (const width of [480, 900, 1280])
				for (const colorScheme of ["light", "dark"] as const) {
					await using it = await openFile(browser, path, { viewport: { width, height: 640 }, colorScheme });
					const { page } = it;
					await page.waitForSelector(".row");
					await page.screenshot({ path: join(target, `report-${colorScheme}-${width}.png`) });
					await page.click('.row:has-text("fixer")');
					await page.waitForSelector('.details:has-text("fixer")');
					await page.screenshot({ path: join(target, `report-details-${colorScheme}-${width}.png`) });
					expect(await page.textContent(".diff")).toContain('text === "" ? null');
					expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
					expect([it.requests, it.incidents]).toEqual([[], []]);
				}
		});

	if (isFullRun)
		test("a script that gets into the page all the same is refused", async () => {
			await using temp = await createTempDir();
			const path = await writeHtmlReport(buildReport([hostile()], { now: 0 }), join(temp.path, "r.html"));
			const evil = '<script>globalThis.owned = 1</script><img src="http://127.0.0.1:9/x"><p style="color:red">';
			await writeFile(path, (await readFile(path, "utf8")).replace("<body>", `<body>${evil}`));
			await using it = await openFile(browser, path);
			await it.page.waitForSelector(".row");
			expect(await it.page.evaluate("globalThis.owned")).toBeUndefined();
			expect(it.incidents.filter((each) => each.includes("Content Security Policy"))).toHaveLength(3);
		});

	if (isFullRun)
		test("everything can be done with the keyboard alone", async () => {
			await using temp = await createTempDir();
			const path = await writeHtmlReport(buildReport(crowd(3, 4), { now: 0 }), join(temp.path, "r.html"));
			await using it = await openFile(browser, path, { viewport: { width: 1280, height: 760 } });
			const { page } = it;
			const selected = () => page.getAttribute(".row.selected", "id");
			const rows = () => page.locator(".row").count();
			const press = async (...keys: string[]) => {
				for (const key of keys) await page.keyboard.press(key);
			};
			await page.waitForSelector(".row.selected");
			expect([await selected(), await rows()]).toEqual(["row-a0", 3]);
			await press("ArrowDown", "ArrowDown");
			expect(await selected()).toBe("row-a2");
			await press("ArrowLeft", "ArrowLeft"); // up to the parent, then closed
			expect([await selected(), await rows()]).toEqual(["row-a0", 1]);
			await press("ArrowRight", "End");
			expect([await selected(), await rows()]).toEqual(["row-a2", 3]);
			const ticks = () => page.locator(".axis span").allTextContents();
			const before = await ticks();
			await press("+", "+");
			expect(await ticks()).not.toEqual(before);
			await press("0");
			expect(await ticks()).toEqual(before);
			await press("/");
			await page.keyboard.type("task of a1");
			await expect.poll(rows).toBe(2); // with its parent
			await press("Escape");
			await expect.poll(rows).toBe(3);
			await press("Enter");
			await expect.poll(() => page.evaluate("document.activeElement?.className")).toBe("details");
			await press("Tab");
			expect(await page.evaluate("document.activeElement?.tagName")).toBe("BUTTON");
			expect(it.incidents).toEqual([]);
		});

	if (isFullRun)
		test("200 agents and 12,000 spans open within 700 ms of an empty page; 5,000 stay usable", async () => {
			await using temp = await createTempDir();
			const empty = join(temp.path, "empty.html");
			await writeFile(empty, "<!doctype html><title>empty</title><div class=row></div>");
			const large = await writeHtmlReport(buildReport(crowd(200, 60), { now: 0 }), join(temp.path, "large.html"));
			const huge = await writeHtmlReport(buildReport(crowd(5_000, 10), { now: 0 }), join(temp.path, "huge.html"));
			const timeOf = async (path: string) => {
				const times: number[] = [];
				for (let round = 0; round < 3; round++) {
					const start = performance.now();
					await using it = await openFile(browser, path);
					await it.page.waitForSelector(".row", { state: "attached" });
					await it.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
					times.push(performance.now() - start);
				}
				return Math.min(...times);
			};
			const [floor, opened] = [await timeOf(empty), await timeOf(large)];
			console.log(`opening 200 agents: ${Math.round(opened)} ms; an empty page: ${Math.round(floor)} ms`);
			expect(opened - floor).toBeLessThan(700 * slowdown());
			await using it = await openFile(browser, huge);
			await it.page.waitForSelector(".row");
			await it.page.keyboard.press("End");
			await it.page.waitForSelector("#row-a4999.selected");
			expect(await it.page.locator(".row").count()).toBeLessThan(100);
		});
});
