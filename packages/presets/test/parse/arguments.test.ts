/** What callers in JavaScript pass. */
import { expect, test } from "vitest";
import { parsePreset } from "../../src/index.ts";

const text = "---\nname: scout\ndescription: Looks around\n---\nBe quick.";
const path = "scout.md";
const sourceOf = (source: unknown) => parsePreset(text, { path, source } as never).preset?.source;

test("the source may be left out, a plain name, or only begun; without one the file is the project's", () => {
	const project = { kind: "project", flavour: "subagents", inProject: true };
	expect(parsePreset(text, { path }).preset).toMatchObject({ name: "scout", source: project });
	expect(sourceOf("project")).toEqual(project);
	expect(sourceOf("global")).toEqual({ kind: "global", flavour: "subagents", inProject: false });
	expect(sourceOf({ kind: "import", flavour: "claude", inProject: true })).toMatchObject({ flavour: "claude" });
	expect(sourceOf({ kind: "global", inProject: true })).toMatchObject({ flavour: "subagents", inProject: true });
});

test.each([
	["text", () => parsePreset(undefined as never, { path })],
	["path", () => parsePreset(text, {} as never)],
	["path", () => parsePreset(text, undefined as never)],
	["source", () => sourceOf("somewhere")],
	["source", () => sourceOf(null)],
	["source", () => sourceOf({ flavour: "claude" })],
	["source.flavour", () => sourceOf("import")],
	["source.flavour", () => sourceOf({ kind: "global", flavour: "other" })],
])("anything else is a TypeError that names the argument: %s", (name, call) => {
	expect(call).toThrow(TypeError);
	expect(call).toThrow(new RegExp(`^${name} must be `));
});
