/** Finding presets on disk: beside a rival's loader, beside bare reading, and again when nothing has changed. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentsDirs, createCatalogue, parsePreset } from "@pi-subagents/presets";
import { parseDocument } from "yaml";
import { generate, random } from "../../packages/presets/test/parse/hostile-texts.ts";
import { type Benchmark, longestPause, type Subject, timed } from "../measure.ts";
import { loadRivalPresets } from "../rivals.ts";

const SIZES = [100, 1_000, 5_000];
const rival = await loadRivalPresets();
const roots = new Map(SIZES.map((count) => [count, projectWith(count)]));
process.once("exit", () => {
	for (const { root } of roots.values()) rmSync(root, { recursive: true, force: true });
});

export const discovery: Benchmark[] = SIZES.flatMap((count) => {
	const project = roots.get(count) ?? projectWith(count);
	return [
		{
			name: `presets: discover ${count} files`,
			target: count === 100 ? 1 : 0.6,
			unit: "ms",
			rounds: 9,
			ours: timed("ours", () => discover(project)),
			against: timed("rival's loader", async () => expectCount(rival(project.root).size, count)),
		},
		{
			name: `presets: discover ${count} files, beside bare reading`,
			target: 6,
			unit: "ms",
			rounds: 9,
			ours: timed("ours", () => discover(project)),
			against: timed("readdir + readFile", async () => expectCount(readAll(project.folder), count)),
		},
		{
			name: `presets: look again at ${count} unchanged files`,
			target: count === 100 ? 0.2 : 0.1,
			unit: "ms",
			rounds: 9,
			ours: rescan(project),
			against: timed("rival's loader", async () => expectCount(rival(project.root).size, count)),
		},
		{
			name: `presets: longest pause of the event loop, ${count} files`,
			target: count === 100 ? 1 : 0.5,
			unit: "ms",
			rounds: 9,
			ours: pause("ours", () => discover(project)),
			against: pause("rival's loader", async () => expectCount(rival(project.root).size, count)),
		},
	];
});

/** The same files, found by each: for a table of all of them. */
export function discoveryOf(count: number) {
	const project = roots.get(count) ?? projectWith(count);
	return {
		root: project.root,
		floor: timed("readdir + readFile", async () => expectCount(readAll(project.folder), count)),
		ours: timed("ours", () => discover(project)),
		oursAgain: rescan(project),
		rival: timed("rival's loader", async () => expectCount(rival(project.root).size, count)),
	};
}

export const hostileFiles: Benchmark = {
	name: "presets: slowest of 10,000 hostile files, beside plain YAML of the largest size",
	target: 3,
	unit: "ms",
	rounds: 5,
	ours: {
		name: "slowest",
		once() {
			const next = random(20_260_101);
			return Math.max(...Array.from({ length: 10_000 }, () => parseTime(generate(next))));
		},
	},
	against: timed("16 KB of YAML", async () => void parseDocument(mostYaml)),
};

/** As much frontmatter as a preset may hold, honestly used. */
const mostYaml = `tools:\n${"  - {name: read, path: [src, test]}\n".repeat(450)}`;

interface Project {
	root: string;
	folder: string;
	count: number;
}

async function discover({ root, count }: Project): Promise<void> {
	const { presets } = await createCatalogue({ cwd: root, agentDir: join(root, "agent"), sources: agentsDirs() }).read();
	expectCount(presets.length, count);
}

function rescan({ root, count }: Project): Subject {
	const catalogue = createCatalogue({ cwd: root, agentDir: join(root, "agent"), sources: agentsDirs() });
	return timed("unchanged", async () => expectCount((await catalogue.read()).presets.length, count));
}

function pause(name: string, work: () => Promise<void>): Subject {
	return { name, once: () => longestPause(work) };
}

function parseTime(text: string): number {
	const start = performance.now();
	parsePreset(text, { path: "/x/y.md", source: { kind: "project", flavour: "agents", inProject: true } });
	return performance.now() - start;
}

function readAll(folder: string): number {
	return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")).length;
}

function projectWith(count: number): Project {
	const root = mkdtempSync(join(tmpdir(), "bench-presets-"));
	const folder = join(root, ".pi/agents");
	mkdirSync(folder, { recursive: true });
	for (let index = 0; index < count; index++) {
		writeFileSync(join(folder, `agent-${index}.md`), file(`agent-${index}`, "Look closely, then tell.\n".repeat(80)));
	}
	return { root, folder, count };
}

function file(name: string, body: string): string {
	return `---\nname: ${name}\ndescription: Does the work of ${name}\ntools: read, grep, find, ls\nmodel: fake/one\nmax_turns: 20\n---\n${body}`;
}

function expectCount(found: number, wanted: number): void {
	if (found !== wanted) throw new Error(`found ${found} presets of ${wanted}`);
}
