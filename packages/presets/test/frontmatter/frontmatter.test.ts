import { describe, expect, test } from "vitest";
import { parsePreset } from "../../src/index.ts";
import { agents, parseWith, preset as presetText, subagents, told } from "../support.ts";

const at = { path: "/x/sample.md", source: subagents };

test.each([
	["a byte order mark", `\ufeff${presetText("sample")}`],
	["Windows line ends", presetText("sample").replaceAll("\n", "\r\n")],
	["old Mac line ends", presetText("sample").replaceAll("\n", "\r")],
	[
		"both, and spaces behind the dashes",
		`\ufeff${presetText("sample").replaceAll("---", "---  ").replaceAll("\n", "\r\n")}`,
	],
	["a tab as separator", presetText("sample").replace("name: ", "name:\t")],
	["blank lines before it", `\n  \n${presetText("sample")}`],
	["comments and empty lines", presetText("sample").replace("---\n", "---\n# comment\n\n")],
])("%s makes no difference", (_what, text) => {
	const { preset, problems } = parsePreset(text, at);
	expect(problems).toEqual([]);
	expect(preset).toMatchObject({ name: "sample", description: "About sample", prompt: "I am sample." });
});

test("line numbers stay right with blank lines before the frontmatter", () => {
	const { preset } = parsePreset(`\n\n${presetText("sample", "max_turns: 3\n")}`, at);
	expect(preset?.origins.maxTurns).toEqual({ path: at.path, line: 6 });
});

test("line numbers stay right with Windows line ends", () => {
	const { preset } = parsePreset(presetText("sample", "max_turns: 3\n").replaceAll("\n", "\r\n"), at);
	expect(preset?.origins.maxTurns).toEqual({ path: "/x/sample.md", line: 4 });
});

test.each([
	["an empty body", "---\nname: n\ndescription: d\n---\n", ""],
	["nothing after the dashes", "---\nname: n\ndescription: d\n---", ""],
	["dashes in the body", "---\nname: n\ndescription: d\n---\nabove\n---\nbelow\n", "above\n---\nbelow"],
	["a longer rule in the body", "---\nname: n\ndescription: d\n---\n----\n", "----"],
	["control characters in the body", "---\nname: n\ndescription: d\n---\na\u001b[31mb\u0007\tc\n", "a[31mb\tc"],
])("%s is fine", (_what, text, prompt) => {
	const { preset, problems } = parsePreset(text, at);
	expect([preset?.prompt, problems]).toEqual([prompt, []]);
});

test.each([
	[
		"unclosed",
		"---\nname: n\ndescription: d\nbody",
		"1: error: the frontmatter is not closed: end it with a line `---`",
	],
	["unclosed and empty", "---", "1: error: the frontmatter is not closed: end it with a line `---`"],
	["a list", "---\n- a\n- b\n---\n", "2: error: the frontmatter is not a mapping: write `key: value` lines"],
	["a word", "---\nhello\n---\n", "2: error: the frontmatter is not a mapping: write `key: value` lines"],
	["NUL", "---\nname: n\n---\n\u0000", "1: error: the file contains NUL characters: save it as UTF-8 text"],
	[
		"a tab as indentation",
		"---\nname: n\noutput_schema:\n\ttype: object\n---\n",
		"4: error: a tab is used as indentation: use spaces",
	],
	["a custom tag", "---\nname: n\ndescription: !evil d\n---\n", "3: error: Unresolved tag: !evil: remove the tag"],
	[
		"a JavaScript tag",
		'---\nname: n\nx: !!js/function "f"\n---\n',
		"3: error: Unresolved tag: tag:yaml.org,2002:js/function: remove the tag",
	],
	[
		"two documents",
		"---\nname: n\n...\nname: m\n---\n",
		"4: error: the frontmatter contains more than one YAML document: keep one",
	],
	["a key that is a list", "---\n? [a]\n: b\n---\n", "2: error: a key is not a single word: write `key: value` lines"],
	[
		"a prototype key",
		"---\nname: n\noutput_schema:\n  __proto__: {x: 1}\n---\n",
		"4: error: a key is called __proto__: rename it",
	],
	[
		"a nested key twice",
		"---\nname: n\noutput_schema:\n  a: 1\n  a: 2\n---\n",
		'5: error: the key "a" appears twice: remove one',
	],
	[
		"too many lines of it",
		`---\nname: n\n${" \n".repeat(500)}---\n`,
		"1: error: the frontmatter has more than 400 lines or 1000 words and symbols: make it smaller",
	],
	[
		"too many values in it",
		`---\nx: [${"1,".repeat(3000)}]\n---\n`,
		"1: error: the frontmatter has more than 400 lines or 1000 words and symbols: make it smaller",
	],
	[
		"too many brackets in one another",
		`---\nx: ${"[{a: ".repeat(33)}\n---\n`,
		"1: error: the frontmatter has more than 64 nested brackets: make it simpler",
	],
	[
		"too much of it",
		`---\n${"# filler\n".repeat(2000)}---\n`,
		"1: error: the frontmatter has 17999 characters: use at most 16384 and put the rest into the body",
	],
])("%s is a problem with a place", (_what, text, message) => {
	for (const source of [subagents, agents]) {
		const { preset, problems } = parsePreset(text, { path: "/x/sample.md", source });
		expect([preset, told(problems)]).toEqual([undefined, [message]]);
	}
});

test("an empty frontmatter is the same as none of its fields", () => {
	expect(parsePreset("---\n---\nHi", { path: "/x/a.md", source: agents }).preset).toMatchObject({
		name: "a",
		prompt: "Hi",
	});
	expect(told(parsePreset("---\n---\nHi", at).problems)).toHaveLength(2);
});

test("a bomb of aliases is defused", () => {
	const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(", ")}]`);
	const { preset, problems } = parsePreset(`---\nname: n\nl0: &l0 lol\n${levels.join("\n")}\n---\n`, at);
	expect(preset).toBeUndefined();
	expect(problems[0]?.message).toBe("the frontmatter has more than 10 aliases: write the values out");
});

test("a few aliases are allowed", () => {
	expect(parseWith("tools: &t [read, grep]\nlocked: [tools]\nx: *t").preset?.tools).toEqual(["read", "grep"]);
});

test.each(["[", "{a: ", "- ", "\n - "])("deep nesting of %j ends with a problem", (opening) => {
	for (const depth of [100, 500, 1400, 4000]) {
		const { preset, problems } = parsePreset(`---\nx: ${opening.repeat(depth)}\n---\n`, at);
		expect(preset).toBeUndefined();
		expect(problems.length).toBeGreaterThan(0);
	}
});

test("a file made of mistakes lists only the first twenty oddities, but every reason why it is unusable", () => {
	const { problems } = parsePreset(`---\n${Array.from({ length: 300 }, (_, i) => `k${i}: v`).join("\n")}\n---\n`, at);
	expect(problems.map(({ severity }) => severity)).toEqual([...Array(20).fill("warning"), "error", "error"]);
});

describe("mistakes that are understood", () => {
	test.each([
		["a colon", "Use when: something breaks", "Use when: something breaks"],
		["a colon at the end", "Use this:", "Use this:"],
		["a leading @", "@mention of people", "@mention of people"],
		["a leading backtick", "`code` reviewer", "`code` reviewer"],
		["quotes that end too early", '"Fast" and cheap', '"Fast" and cheap'],
		["a colon over two lines", "Use when: this\n  and that: too", "Use when: this and that: too"],
	])("%s in an unquoted description is taken as text, with a warning", (_what, written, description) => {
		const { preset, problems } = parsePreset(`---\nname: n\ndescription: ${written}\nthinking: x\n---\n`, at);
		expect(preset?.description).toBe(description);
		expect(told(problems)).toEqual([
			'3: warning: the value of "description" has a character that YAML reserves and was read as text: put it in quotes',
			expect.stringMatching(/^[45]: error: "thinking" must be/),
		]);
	});

	test("the same in a tool list is not repaired", () => {
		const { preset, problems } = parseWith("tools: read: grep");
		expect(preset).toBeUndefined();
		expect(told(problems)).toEqual(["4: error: a value contains an unquoted colon: put the value in quotes"]);
	});

	test.each([
		["tools: read\n  model: x", 5, 3],
		["model: a\n  bad: [yaml", 5, 3],
		["model: a\n  and so\n   on: x", 6, 4],
	])("`%s` is told as what it is: a line indented under a finished value", (lines, line, column) => {
		const message =
			"this line is indented, but the value above it is complete: remove the indentation, or put the whole value in quotes";
		expect(parseWith(lines).problems).toMatchObject([{ line, column, severity: "error", message }]);
	});

	test.each(["tools: read", "isolation: worktree", "permission: deny"])(
		"an indented `%s` is not swallowed by the prose above it",
		(line) => {
			const { preset, problems } = parsePreset(`---\nname: n\ndescription: Use when: x\n  ${line}\n---\n`, at);
			expect(preset).toBeUndefined();
			expect(problems).toMatchObject([{ severity: "error" }]);
		},
	);

	test("a repair does not touch the lines that are fine", () => {
		const { preset } = parsePreset(
			'---\nname: "n"\ndescription: Use when: x\ntools:\n  - read\n  - grep\noutput_schema: {type: object}\n---\n',
			at,
		);
		expect(preset).toMatchObject({ tools: ["read", "grep"], outputSchema: { type: "object" } });
	});
});
