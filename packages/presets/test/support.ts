/** What the tests share: a throw-away directory tree, and files in it. */
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type ParseResult, type PresetSource, type Problem, parsePreset } from "../src/index.ts";

/** Long ago, so that nothing in it counts as just changed. */
export const longAgo = new Date("2020-01-01T00:00:00Z");

/** A temporary directory with the given files, removed when the test ends. */
export async function tree(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
	const root = await mkdtemp(join(tmpdir(), "presets-"));
	onTestFinished(() => rm(root, { recursive: true, force: true }));
	for (const [path, content] of Object.entries(files)) await put(join(root, path), content);
	return root;
}

/** Writes a file with an old date. */
export async function put(path: string, content: string | Uint8Array, date: Date = longAgo): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, content);
	await utimes(path, date, date);
}

/** The text of a preset file. */
export function preset(name: string, more = "", body = `I am ${name}.`): string {
	return `---\nname: ${name}\ndescription: About ${name}\n${more}---\n${body}\n`;
}

export const subagents: PresetSource = { kind: "global", flavour: "subagents", inProject: false };
export const agents: PresetSource = { kind: "global", flavour: "agents", inProject: false };
export const claude: PresetSource = { kind: "import", flavour: "claude", inProject: false };
export const opencode: PresetSource = { kind: "import", flavour: "opencode", inProject: false };

/** Parses frontmatter lines that follow a name and a description. */
export function parseWith(lines: string, source: PresetSource = subagents): ParseResult {
	return parsePreset(`---\nname: sample\ndescription: A sample\n${lines}\n---\nBody.\n`, {
		path: "/x/sample.md",
		source,
	});
}

/** `line: severity: message` of each problem. */
export function told(problems: readonly Problem[]): string[] {
	return problems.map(({ line, severity, message }) => `${line ?? "-"}: ${severity}: ${message}`);
}
