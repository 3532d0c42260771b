import { expect, test } from "vitest";
import { parsePreset } from "../../src/index.ts";
import { nameFault, nameKey, normalName } from "../../src/model/names.ts";
import { subagents } from "../support.ts";

test("the same letters are the same name, and shown as one", () => {
	expect(normalName("Cafe\u0301")).toBe("Caf\u00e9");
	expect(nameKey("CAFE\u0301")).toBe("caf\u00e9");
	expect(nameFault("Caf\u00e9")).toBeUndefined();
	const text = "---\nname: Cafe\u0301\ndescription: x\nmodel: a/b\n---\nGo.\n";
	expect(parsePreset(text, { path: "/p/x.md", source: subagents }).preset?.name).toBe("Caf\u00e9");
});

test.each([
	["a zero-width space", "sc\u200bout", "U+200B"],
	["a turned direction", "sc\u202eout", "U+202E"],
	["a soft hyphen", "sc\u00adout", "U+00AD"],
	["a variation selector", "scout\ufe0f", "U+FE0F"],
	["a tag", "scout\u{e0041}", "U+E0041"],
	["a letter that is blank", "scout\u3164", "U+3164"],
	["a mark that joins", "sc\u034fout", "U+034F"],
])("%s in a name is a problem that names it", (_what, name, code) => {
	expect(nameFault(name)).toContain(`contains an invisible character, ${code}: remove it`);
});
