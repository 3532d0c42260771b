import { isFullRun } from "@pi-subagents-dev/testkit/full-run";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { readSimpleFrontmatter } from "../../src/frontmatter/simple-frontmatter.ts";

/** What YAML makes of the same text, or `undefined` when it complains. */
function readYaml(text: string): unknown {
	const document = parseDocument(text, { logLevel: "error", uniqueKeys: true });
	if (document.errors.length > 0 || document.warnings.length > 0) return undefined;
	return document.toJS({ maxAliasCount: 0 }) ?? {};
}

function accepted(text: string): unknown {
	const entries = readSimpleFrontmatter(text, 1);
	return entries === undefined ? undefined : Object.fromEntries(entries.map(({ key, value }) => [key, value]));
}

const pieces = fc.constantFrom(
	..."abzAZ019 _-.,:#'\"[]{}*&!|>%@`?~+=<;^$()/\\éß研한\u00a0\u2028\t".split(""),
	": ",
	" #",
	"- ",
	"true",
	"null",
	"~",
	"0x1f",
	"0o17",
	"1e3",
	".5",
	"-1",
	"007",
	".inf",
	".nan",
	"1_000",
	"2020-01-01",
	"no",
	"---",
	"...",
	"[a, b]",
	"''",
	'""',
	"<<",
);
const value = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(""));
const key = fc.constantFrom("name", "description", "a", "tools", "x-y", "_z", "true", "null", "on", "K1");
const line = fc.oneof(
	{ weight: 6, arbitrary: fc.tuple(key, value).map(([k, v]) => `${k}: ${v}`) },
	{ weight: 2, arbitrary: value.map((v) => `  - ${v}`) },
	{ weight: 1, arbitrary: value.map((v) => `- ${v}`) },
	{ weight: 1, arbitrary: fc.tuple(key, fc.array(value, { maxLength: 3 })).map(([k, v]) => `${k}: [${v.join(", ")}]`) },
	{ weight: 1, arbitrary: key.map((k) => `${k}:`) },
	{ weight: 1, arbitrary: fc.constantFrom("", "# note", "   ", "\t") },
);
const text = fc.array(line, { maxLength: 5 }).map((lines) => lines.join("\n"));

test("whatever the fast path accepts, YAML reads the same way", () => {
	fc.assert(
		fc.property(text, (source) => {
			const fast = accepted(source);
			if (fast !== undefined) expect(fast).toEqual(readYaml(source));
		}),
		{ numRuns: isFullRun ? 30_000 : 3_000 },
	);
});

describe("the usual files need no YAML parser", () => {
	test.each<[string, unknown]>([
		["name: scout\ndescription: Looks around, quickly.", { name: "scout", description: "Looks around, quickly." }],
		['description: "Use when: asked"', { description: "Use when: asked" }],
		["tools: read, grep\nmax_turns: 20\nenabled: false", { tools: "read, grep", max_turns: 20, enabled: false }],
		["tools:\n  - read\n  - grep\nmodel: a/b:high", { tools: ["read", "grep"], model: "a/b:high" }],
		["tools: [read, ext:web/fetch]\ntimeout: 90s", { tools: ["read", "ext:web/fetch"], timeout: "90s" }],
		["tools: []\nmodel:", { tools: [], model: null }],
		["description: 研究を行う", { description: "研究を行う" }],
	])("%j", (source, expected) => {
		expect(accepted(source)).toEqual(expected);
		expect(readYaml(source)).toEqual(expected);
	});
});
