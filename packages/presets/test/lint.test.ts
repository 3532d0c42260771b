import { join } from "node:path";
import { expect, test } from "vitest";
import { builtins, lint, subagentsDirs } from "../src/index.ts";
import { preset, told, tree } from "./support.ts";

test("says what discovery says, and what only shows when all presets are known", async () => {
	const root = await tree({
		"subagents/a.md": preset(
			"a",
			"tools: raed, grep, bash\ndisallowed_tools: bash\nsubagents: explor, scout, nobody\nmodle: x\n",
			"",
		),
		"subagents/long.md": preset("long", "", "x".repeat(30_000)),
	});
	const { presets, problems } = await lint({ cwd: root, agentDir: root, sources: [...builtins(), ...subagentsDirs()] });
	expect(presets).toHaveLength(9);
	expect(told(problems)).toEqual([
		"1: warning: the body is empty: say what the agent should do",
		'4: warning: unknown tool "raed": did you mean "read"?',
		'5: warning: "bash" is allowed by "tools" and denied here: it is denied',
		'6: warning: there is no preset "explor": did you mean "Explore"?',
		'6: warning: there is no preset "nobody": create it or remove the name',
		'7: warning: unknown field "modle": did you mean "model"?',
		"1: warning: the body has 30000 characters, sent with every run: shorten it",
	]);
	expect(problems[1]).toMatchObject({ path: join(root, "subagents/a.md"), field: "tools", preset: "a" });
});

test("given paths, looks at those only, by the rules of their directories", async () => {
	const root = await tree({
		"subagents/other.md": "broken",
		"x/subagents/one.md": "No frontmatter.",
		"x/agents/one.md": "---\ndescription: d\n---\nNo name.",
		"x/.claude/agents/one.md": "---\nname: one\ndescription: d\ntools: Read\n---\nHi",
		"x/.opencode/agents/one.md": "---\ndescription: d\ntools: {write: false}\n---\nHi",
	});
	const paths = [
		"x/subagents",
		"x/agents/one.md",
		join(root, "x/.claude/agents"),
		"x/.opencode/agents/one.md",
		"x/missing",
	];
	const { presets, problems } = await lint({ cwd: root, agentDir: root, paths });
	expect(presets.map(({ source }) => source.flavour)).toEqual(["agents", "claude", "opencode"]);
	expect(problems.map(({ path, severity, message }) => [path, severity, message.slice(0, 26)])).toEqual([
		[join(root, "x/missing"), "error", "cannot be read (ENOENT): c"],
		[join(root, "x/subagents/one.md"), "error", "the file has no frontmatte"],
	]);
});
