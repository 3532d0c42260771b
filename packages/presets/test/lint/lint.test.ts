import { join } from "node:path";
import { expect, test } from "vitest";
import { agentsDirs, builtins, lint, packagePresets, subagentsDirs } from "../../src/index.ts";
import { preset, told, tree } from "../support.ts";

test("says what discovery says, and what only shows when all presets are known", async () => {
	const root = await tree({
		"subagents/a.md": preset(
			"a",
			"model: m\ntools: raed, grep, bash\ndisallowed_tools: bash\nsubagents: explor, scout, nobody\nmodle: x\n",
			"",
		),
		"subagents/long.md": preset("long", "model: m\n", "x".repeat(30_000)),
	});
	const { presets, problems } = await lint({ cwd: root, agentDir: root, sources: [...builtins(), ...subagentsDirs()] });
	expect(presets).toHaveLength(9);
	expect(told(problems)).toEqual([
		"1: warning: the body is empty: say what the agent should do",
		'5: warning: unknown tool "raed": did you mean "read"?',
		'6: warning: "bash" is allowed by "tools" and denied here: it is denied',
		'7: warning: there is no preset "explor": did you mean "Explore"?',
		'7: warning: there is no preset "nobody": create it or remove the name',
		'8: warning: unknown field "modle": did you mean "model"?',
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

test("a preset in `subagents` without a model is a warning, elsewhere and for a disabled one not", async () => {
	const root = await tree({
		"subagents/a.md": preset("a"),
		"subagents/b.md": preset("b", "model: inherit\n"),
		"subagents/c.md": preset("c", "enabled: false\n"),
		"agents/d.md": preset("d"),
	});
	const sources = [...builtins(), ...agentsDirs(), ...subagentsDirs()];
	const { problems } = await lint({ cwd: root, agentDir: root, sources });
	expect(problems).toEqual([
		{
			...{ path: join(root, "subagents/a.md"), line: 1, column: 1, severity: "warning", field: "model", preset: "a" },
			message: "there is no model, so the call or the settings must name one: add one, or `model: inherit`",
		},
	]);
});

test.each([
	["edti", "edit"],
	["bsah", "bash"],
	["Bash", "bash"],
	["ask_main_sesion", "ask_main_session"],
])("a denied `%s` is an error, since it would deny nothing", async (typo, meant) => {
	const root = await tree({ "subagents/a.md": preset("a", `model: m\ndisallowed_tools: ${typo}\n`) });
	const { problems } = await lint({ cwd: root, agentDir: root });
	expect(told(problems)).toEqual([
		`5: error: unknown tool "${typo}" (did you mean "${meant}"?): the agent does not start until this is fixed`,
	]);
});

test.each(["edit", "web_search", "reader", "grape", "ext:web/fetch"])("a denied `%s` is fine", async (tool) => {
	const root = await tree({ "subagents/a.md": preset("a", `model: m\ndisallowed_tools: ${tool}\n`) });
	expect((await lint({ cwd: root, agentDir: root })).problems).toEqual([]);
});

test("a refused field does not hide what can be told about the others", async () => {
	const lines = "isolation: nope\ntools: raed\ndisallowed_tools: bsah\nsubagents: nobody\n";
	const root = await tree({ "subagents/a.md": preset("a", lines) });
	for (const paths of [[], ["subagents"]]) {
		const { presets, problems } = await lint({ cwd: root, agentDir: root, paths });
		expect([presets, problems.map(({ line, field, preset: name }) => [line, field, name])]).toEqual([
			[],
			[
				[1, "model", "a"],
				[4, "isolation", "a"],
				[5, "tools", "a"],
				[6, "disallowed_tools", "a"],
				[7, "subagents", "a"],
			],
		]);
	}
});

test("a broken file is one problem: whoever names it has none, be it a built-in or a file", async () => {
	const root = await tree({
		"subagents/a.md": preset("a", "model: m\nsubagents: Explore, my-own\n"),
		"subagents/explore.md": preset("explore", "model: m\ntools: {a: b}\n"),
		"subagents/own.md": preset("my-own", "model: m\ntools: {a: b}\n"),
	});
	const sources = [...builtins(), ...subagentsDirs()];
	const { problems } = await lint({ cwd: root, agentDir: root, sources });
	expect(problems.map(({ path }) => path)).toEqual(
		["explore", "explore", "own"].map((name) => join(root, `subagents/${name}.md`)),
	);
});

test("what comes with a package is not the user's to correct, so oddities in it are not told", async () => {
	const root = await tree({
		"pkg/package.json": JSON.stringify({ pi: { subagents: "agents" } }),
		"pkg/agents/a.md": preset("a", "tools: raed\nsubagents: nobody\n"),
	});
	const sources = packagePresets([join(root, "pkg/package.json")]);
	const { presets, problems } = await lint({ cwd: root, agentDir: root, sources });
	expect([presets.map(({ name }) => name), problems]).toEqual([["a"], []]);
	const { problems: asAuthor } = await lint({ cwd: root, agentDir: root, sources, paths: ["pkg/agents"] });
	expect(asAuthor).toHaveLength(2);
});
