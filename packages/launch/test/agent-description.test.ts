/** The user's own text for the `Agent` tool: which file counts, what placeholders stand for, and what is wrong. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Preset } from "@pi-subagents/presets";
import { describe, expect, onTestFinished, test } from "vitest";
import { agentDescription, type DescriptionFacts, expand } from "../src/agent-description.ts";
import type { StoredTrust } from "../src/settings/config.ts";

const preset = (fields: Partial<Preset> = {}): Preset => ({
	name: "scout",
	description: "Looks around. Changes nothing.",
	prompt: "You are a scout.",
	promptMode: "append",
	enabled: true,
	source: { kind: "project", flavour: "subagents", inProject: true },
	path: "/project/.pi/subagents/scout.md",
	origins: {},
	...fields,
});

const facts: DescriptionFacts = {
	presets: [preset({ tools: ["read", "grep"] }), preset({ name: "worker", description: "Does it. Carefully." })],
	agentDir: "/home/me/.pi/agent",
	maxDepth: 4,
	scheduling: true,
};
const inFile = (text: string, change: Partial<DescriptionFacts> = {}) =>
	expand({ path: "/p/x.md", text }, { ...facts, ...change });

describe("placeholders", () => {
	test.each([
		[
			"{{typeList}}",
			"- scout: Looks around. Changes nothing. (Tools: read, grep)\n- worker: Does it. Carefully. (Tools: all)",
		],
		["{{ compactTypeList }}", "- scout: Looks around.\n- worker: Does it."],
		["{{agentDir}}/agents/<name>.md", "/home/me/.pi/agent/agents/<name>.md"],
		["level {{currentDepth}} of {{maxDepth}}", "level 0 of 4"],
		[
			"- {{recursiveGuideline}}",
			"- Agents whose preset allows it can launch agents of their own, down to level 4; this session is level 0.",
		],
		[
			"- Wait.{{scheduleGuideline}}",
			'- Wait.\n- Use schedule to run the call later or repeatedly: cron, "30m", "+10m" or an ISO time.',
		],
		[
			"- Wait.{{isolationGuideline}}",
			'- Wait.\n- Use isolation: "worktree" to let the agent work in its own git worktree.',
		],
	])("%s", (text, expected) => {
		expect(inFile(text)).toEqual({ text: expected, problems: [] });
	});

	test("of what is switched off leave nothing behind", () => {
		expect(inFile("- Wait.{{scheduleGuideline}}", { scheduling: false }).text).toBe("- Wait.");
		expect(inFile("- {{recursiveGuideline}}", { maxDepth: 1 }).text).toBe(
			"- Agents cannot launch agents of their own.",
		);
	});

	test("that nobody knows stay, and are named with their line", () => {
		expect(inFile("Types:\n{{typeLst}} and {{constructor}}")).toEqual({
			text: "Types:\n{{typeLst}} and {{constructor}}",
			problems: [
				"/p/x.md:2: {{typeLst}} is no placeholder; did you mean {{typeList}}?",
				expect.stringMatching(
					/^\/p\/x\.md:2: \{\{constructor\}\} is no placeholder; known: typeList, compactTypeList, /,
				),
			],
		});
	});

	test("are not looked for in what another one stands for, and cannot bring control characters", () => {
		const presets = [preset({ description: "Knows {{agentDir}} and \u001b[31mred." })];
		expect(inFile("{{compactTypeList}}\u001b]0;title\u0007", { presets })).toEqual({
			text: "- scout: Knows {{agentDir}} and red.",
			problems: [],
		});
	});
});

test("a text that is too long is cut, also where the placeholders made it so", () => {
	for (const text of ["x".repeat(20_000), "{{typeList}}\n".repeat(500)]) {
		const { text: cut, problems } = inFile(text);
		expect(cut.length).toBeLessThanOrEqual(16_000);
		expect(problems).toEqual([
			expect.stringMatching(/^\/p\/x\.md: the text is cut to 16,000 characters; [\d,]+ characters too long$/),
		]);
	}
});

async function world({ project, global }: { project?: string; global?: string }) {
	const root = await realpath(await mkdtemp(join(tmpdir(), "description-")));
	onTestFinished(() => rm(root, { recursive: true }));
	const [cwd, agentDir] = [join(root, "project"), join(root, "agent")];
	await mkdir(join(cwd, ".pi"), { recursive: true });
	await mkdir(agentDir);
	const own = join(cwd, ".pi", "agent-tool-description.md");
	const users = join(agentDir, "agent-tool-description.md");
	if (project !== undefined) await writeFile(own, project);
	if (global !== undefined) await writeFile(users, global);
	const look = (trust: StoredTrust) => agentDescription({ cwd, trust }, { ...facts, agentDir });
	return { root, own, users, look };
}

describe("which file counts", () => {
	test("none: the text that comes with us", async () => {
		expect((await world({})).look("yes")).toEqual({ problems: [] });
	});

	test("the project's with the user's stored yes, else the user's own, and it is said why", async () => {
		const { look, own, users } = await world({ project: "Of the project.", global: "Mine." });
		expect(look("yes")).toEqual({ path: own, text: "Of the project.", problems: [] });
		expect(look("unasked")).toEqual({
			path: users,
			text: "Mine.",
			problems: [`${own}: not used, because you have not trusted this project (/trust does that)`],
		});
		expect(look("no")).toMatchObject({ text: "Mine.", problems: [expect.stringContaining("declined to trust")] });
	});

	test("one that is empty, too large or no file gives way, and is named", async () => {
		const empty = await world({ project: " \n", global: "Mine." });
		expect(empty.look("yes")).toMatchObject({ text: "Mine.", problems: [`${empty.own}: not used: it is empty`] });
		const large = await world({ global: "x".repeat(300_000) });
		expect(large.look("yes")).toEqual({ problems: [`${large.users}: not used: it is larger than 256 KB`] });
		const dir = await world({});
		await mkdir(dir.users);
		expect(dir.look("yes")).toEqual({ problems: [`${dir.users}: not used: it is not a regular file`] });
	});

	test("not what a link of a trusted project leads to elsewhere", async () => {
		const { root, own, look } = await world({});
		await writeFile(join(root, "secret"), "My key.");
		await symlink(join(root, "secret"), own);
		expect(look("yes")).toEqual({ problems: [`${own}: not used: it leads out of the project`] });
	});
});
