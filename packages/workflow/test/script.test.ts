/** Which scripts are taken, and what is said about the others. */
import { checkScript, ScriptError } from "@pi-subagents/workflow";
import { describe, expect, test } from "vitest";

const withMeta = (meta: string, body = "return 1") => `export const meta = ${meta}\n${body}`;

describe("meta", () => {
	test("is read without running anything", () => {
		const { meta } = checkScript(`
// A comment, and "use strict", may come first.
/* export const meta = {} */
export const meta = {
	name: 'review-changes', // a comment
	description: "Finds \\u0041 bug, " + 'then refutes it',
	phases: [{ title: 'Review', detail: "each file" }, \`Verify\`,],
	whenToUse: "before a merge",
	onError: "throw",
};
const rest = await agent("x")
return { rest }`);
		expect(meta).toEqual({
			name: "review-changes",
			description: "Finds A bug, then refutes it",
			phases: [{ title: "Review", detail: "each file" }, { title: "Verify" }],
			whenToUse: "before a merge",
			onError: "throw",
		});
	});

	test.each([
		["a call", withMeta("{ name: title(), description: 'x' }"), "uses `title`"],
		["a template", withMeta(`{ name: \`a\${1}\`, description: 'x' }`), "computes a value"],
		["a getter", withMeta("{ get name() { return 'a' }, description: 'x' }"), "has no value for `get`"],
		["a method", withMeta("{ name() {}, description: 'x' }"), "has no value for `name`"],
		["a computed key", withMeta("{ ['name']: 'a', description: 'x' }"), "not a plain name"],
		["a spread", withMeta("{ ...base }"), "not a plain name"],
		["something behind it", withMeta("{ name: 'a', description: 'x' }.name"), "pure literal"],
		["no name", withMeta("{ description: 'x' }"), "`meta.name`"],
		["an unknown field", withMeta("{ name: 'a', description: 'x', nmae: 1 }"), "`meta.nmae` is not known"],
		["no meta", "return agent('x')", "export const meta"],
		["a string that does not end", withMeta("{ name: 'a\n }"), "does not end"],
		["deep nesting", withMeta(`${"[".repeat(50)}`), "nested too deeply"],
	])("%s is refused", (_what, script, says) => {
		expect(() => checkScript(script)).toThrow(ScriptError);
		expect(() => checkScript(script)).toThrow(says);
	});
});

test("a mistake in the script has its line", () => {
	expect(() => checkScript(withMeta("{ name: 'a', description: 'x' }", "\nconst x = ;"))).toThrow("line 3: ");
	expect(() => checkScript(withMeta("{ name: 'a', description: 'x' }", 'import fs from "fs"'))).toThrow(
		"cannot import",
	);
});

test("comments behind meta may be many, and may have blanks between them", () => {
	const many = "/* a */ /**/".repeat(60);
	expect(checkScript(withMeta(`{ name: 'a', description: 'x' } ${many} // end`)).meta.name).toBe("a");
	expect(() => checkScript(withMeta(`{ name: 'a', description: 'x' } ${many} x`))).toThrow("pure literal");
});

test("an error is one short line, whatever the script has there", () => {
	for (const word of ["x".repeat(20_000), "\u001b[31m", "\u202e"])
		for (const meta of [word, `{ ${word}`, `{ ${word}: 1 }`, `{ name: "a", description: "b", "${word}": 1 }`])
			try {
				checkScript(withMeta(meta));
				expect.unreachable();
			} catch (error) {
				expect(error).toBeInstanceOf(ScriptError);
				expect((error as Error).message).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u202e]{10,700}$/);
			}
});
