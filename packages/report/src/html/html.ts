/** A report as one HTML file: works from `file://`, sends no request, and runs only its own script. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { builtFile } from "@pi-subagents/core/internal/files";
import { checkArguments } from "@pi-subagents/progress";
import type { Report } from "../model/types.ts";

/** The script and the style of the page. */
export interface Page {
	script: string;
	style: string;
}

/**
 * @example
 * ```ts
 * await writeFile("report.html", await htmlReport(report));
 * ```
 */
export async function htmlReport(report: Report): Promise<string> {
	checkArguments({ report: [report, "object"], "report.agents": [report?.agents, "array"] });
	return htmlWith(report, await builtPage());
}

/** Pure: the same with a page of yours. */
export function htmlWith(report: Report, page: Page): string {
	const policy = `<meta http-equiv="Content-Security-Policy" content="${policyFor(page)}">\n`;
	const data = `<script type="application/json" id="report">${jsonForHtml(report)}</script>\n`;
	return documentOf(page, { title: report.title, policy, data });
}

/** The page without a report: its script asks its server for one, and it may be in no frame. */
export function livePage(page: Page): { html: string; policy: string } {
	return {
		html: documentOf(page, { title: "Agents", policy: "", data: "" }),
		policy: `${policyFor(page)}; connect-src 'self'; frame-ancestors 'none'`, // a page cannot say the last itself
	};
}

function policyFor({ script, style }: Page): string {
	return [
		"default-src 'none'",
		`script-src '${hashOf(script)}'`,
		`style-src '${hashOf(style)}'`,
		"base-uri 'none'",
		"form-action 'none'",
	].join("; ");
}

function documentOf({ script, style }: Page, { title, policy, data }: Record<"title" | "policy" | "data", string>) {
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${policy}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<div id="app"><noscript>This report needs JavaScript, which it brings along.</noscript></div>
${data}<script>${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
	return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** No character that could end the element or start a comment. */
function jsonForHtml(value: unknown): string {
	return JSON.stringify(value).replace(
		/[<>&\u2028\u2029]/g,
		(character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}

function escaped(text: string): string {
	return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Built with this package: beside its code, or in `dist` when its sources run. */
export async function builtPage(): Promise<Page> {
	const read = async (name: string): Promise<string> =>
		(await readFile(builtFile(import.meta.url, [`./${name}`, `../../dist/${name}`]), "utf8")).trim();
	const [script, style] = await Promise.all([read("page.js"), read("page.css")]);
	if (/<\/(?:script|style)/i.test(script + style)) throw new Error("The page of reports would end its own element.");
	return { script, style };
}
