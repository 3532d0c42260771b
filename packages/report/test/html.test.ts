import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { buildReport, htmlWith } from "../src/index.ts";
import { family, launched } from "./fixtures/runs.ts";

const page = { script: "show()", style: "p { color: red }" };

test("the policy names the script and the style by their hashes, and allows nothing else", () => {
	const html = htmlWith(buildReport(family(), { now: 0 }), page);
	const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
	expect(/Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1]).toBe(
		`default-src 'none'; script-src ${hash(page.script)}; style-src ${hash(page.style)}; base-uri 'none'; form-action 'none'`,
	);
});

test("no text ends an element, and the data survives", () => {
	const task = "</script><script>alert(1)</script><!-- \u2028 & \"'";
	const report = buildReport([launched("a1", { agent: { task } })], { now: 2_000, title: task });
	const html = htmlWith(report, page);
	expect(html.match(/<\/?script/g)).toHaveLength(4); // the data and the page's script
	expect(html).not.toContain("<!-- ");
	const data = /id="report">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
	expect(JSON.parse(data)).toEqual(JSON.parse(JSON.stringify(report)));
});
