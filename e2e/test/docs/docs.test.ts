/** The pages of `docs` say what is so: tools as pi offers them, links that lead somewhere, commands that exist. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { runPrint, type ToolView } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { root } from "../../support/packages/packed.ts";
import { parentDelegates, scene, scoutReadsNotes } from "../../support/scene.ts";
import { about, toolsMarkdown } from "../../support/tools-doc.ts";

const PI_TOOLS = new Set(["read", "bash", "edit", "write", "grep", "find", "ls", "powershell"]);

/** What the session and its agents are offered beside pi's own. */
async function offeredTools(): Promise<ToolView[]> {
	// So many that no parameter names them all.
	const models = Array.from({ length: 13 }, (_, index) => ({ id: `fake-${index + 1}` }));
	const toolsets = ["agents", "presets", "roles", "workflows"];
	const agentFiles = { "subagents.json": JSON.stringify({ toolsets }) };
	await using it = await scene([parentDelegates, scoutReadsNotes], { models, agentFiles });
	const { code, stderr } = await runPrint({ env: it.env }, "Please delegate.");
	expect([code, stderr]).toEqual([0, ""]);
	const byName = new Map(it.server.requests.flatMap(({ tools }) => tools.map((tool) => [tool.name, tool])));
	const session = new Map(it.server.requests[0]?.tools.map((tool) => [tool.name, tool]));
	return [...byName.keys()]
		.filter((name) => !PI_TOOLS.has(name))
		.flatMap((name) => session.get(name) ?? byName.get(name) ?? []);
}

test("docs/tools.md has every tool with every parameter, as the model gets them", async () => {
	const tools = await offeredTools();
	expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(about).sort());
	for (const { name, parameters } of tools) {
		const { properties, required = [] } = parameters as { properties: object; required?: string[] };
		const example = Object.keys(about[name]?.example ?? {});
		expect(Object.keys(properties), name).toEqual(expect.arrayContaining(example));
		expect(example, name).toEqual(expect.arrayContaining(required));
	}
	await expect(toolsMarkdown(tools)).toMatchFileSnapshot(join(root, "docs/tools.md"));
});

/** Every page that people read, the generated ones included. */
async function pages(): Promise<string[]> {
	const places = ["", "docs", "docs/decisions", "examples"];
	const nested = await Promise.all(
		["packages", "examples"].map(async (parent) =>
			(await readdir(join(root, parent))).map((name) => `${parent}/${name}`),
		),
	);
	const found = [...places, ...nested.flat()].map(async (place) => {
		const dir = join(root, place);
		const names = (await readdir(dir, { withFileTypes: true }).catch(() => [])).filter((entry) => entry.isFile());
		return names.filter(({ name }) => name.endsWith(".md")).map(({ name }) => join(dir, name));
	});
	return (await Promise.all(found)).flat();
}

test("every link between the pages leads somewhere", async () => {
	const broken: string[] = [];
	for (const page of await pages()) {
		const text = (await readFile(page, "utf8")).replace(/^```.*?^```$/gms, "");
		const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? "");
		for (const target of targets.filter((each) => !/^(?:\w+:|#)/.test(each))) {
			if (!existsSync(join(dirname(page), target.split("#")[0] ?? "")))
				broken.push(`${relative(root, page)}: ${target}`);
		}
	}
	expect(broken).toEqual([]);
});

test("the presets and settings that the guide and the README show are used without a complaint", async () => {
	const texts = await Promise.all(["README.md", "docs/guide.md"].map((page) => readFile(join(root, page), "utf8")));
	const blocks = (language: string) =>
		texts.flatMap((text) =>
			[...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block),
		);
	const presets = blocks("markdown").map((text) => text.replace(/^model: .*$/m, "model: inherit"));
	const names = presets.map((text) => /^name: (.*)$/m.exec(text)?.[1] ?? "");
	expect(names).toEqual(["repo-scout", "api-reviewer", "risk-finder"]);
	const files = Object.fromEntries(presets.map((text, index) => [`.pi/subagents/${names[index]}.md`, text]));
	const settings = blocks("json").find((text) => text.includes("notifications")) ?? "";
	await using it = await scene([parentDelegates, scoutReadsNotes], {
		files,
		agentFiles: { "subagents.json": settings },
	});
	const { stderr } = await runPrint({ env: it.env }, "/subagent agents"); // print mode has no screen for commands
	expect(stderr).not.toMatch(/pi-subagents:|not used|ignored|expected/);
	for (const name of names) expect(stderr).toMatch(new RegExp(`^${name} +project`, "m"));
});

test("every `npm run` and every script that the pages name exists", async () => {
	const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
	for (const page of await pages()) {
		const text = await readFile(page, "utf8");
		for (const [command, name] of text.matchAll(/\b(?:npm|pnpm) run ([\w:-]+)/g))
			expect(Object.keys(scripts), `${relative(root, page)}: ${command}`).toContain(name);
	}
});

test("docs/README.md lists every page of docs", async () => {
	const index = await readFile(join(root, "docs/README.md"), "utf8");
	for (const name of await readdir(join(root, "docs"))) {
		if (name === "README.md" || name === "images") continue;
		expect(index).toContain(`](${name}`);
	}
});

test("the pictures are there in light and dark, small, without scripts, and show nothing of the machine that drew them", async () => {
	const images = join(root, "docs/images");
	const names = (await readdir(images)).filter((name) => name.endsWith(".svg"));
	const kinds = ["demo", "list", "rows", "viewer", ...[40, 80, 120, 200].map((cols) => `tree-${cols}`)];
	const wanted = kinds.flatMap((kind) =>
		["dark", "light"].map((theme) => `${kind.replace(/^(\w+)/, `$1-${theme}`)}.svg`),
	);
	expect(names.sort()).toEqual(wanted.sort());
	for (const name of names) {
		const svg = await readFile(join(images, name), "utf8");
		expect(svg.length, name).toBeLessThan(name.startsWith("demo-") ? 300 * 1024 : 30 * 1024);
		expect(svg, name).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [^>]*>\n<title>\S/);
		expect(svg, name).not.toMatch(
			/<script|javascript:|\son\w+=|<foreignObject|@import|url\(|\/tmp\/|\/home\/|\/root\//i,
		);
		expect(svg.replace("http://www.w3.org/2000/svg", ""), name).not.toMatch(/https?:/);
	}
});

test("the README opens with a film of the demo, whose first frame is a whole screen, and which can stand still", async () => {
	const [first = ""] = /<picture>.*?<\/picture>/s.exec(await readFile(join(root, "README.md"), "utf8")) ?? [];
	for (const theme of ["dark", "light"]) {
		expect(first).toContain(`docs/images/demo-${theme}.svg`);
		const svg = await readFile(join(root, `docs/images/demo-${theme}.svg`), "utf8");
		expect(svg).toContain("@media (prefers-reduced-motion:reduce){.s{animation:none}}");
		const lines = new Map([...svg.matchAll(/^<g id="(l\d+)">(.*)<\/g>$/gm)].map(([, id, drawn]) => [id, drawn]));
		const frames = [...svg.matchAll(/^<g(?: transform="[^"]+")?>(.*)<\/g>$/gm)].map(([, uses = ""]) =>
			[...uses.matchAll(/href="#(l\d+)"/g)].map(([, id]) => lines.get(id)?.replace(/<[^>]*>/g, "") ?? "").join("\n"),
		);
		expect(frames.length).toBeGreaterThan(20);
		for (const text of ["Agents", "3 running", "cartographer", "critic", "tester"]) expect(frames[0]).toContain(text);
		expect(frames.some((frame) => frame.includes("Not yet."))).toBe(true);
	}
});
