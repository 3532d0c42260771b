import { expect, test } from "vitest";
import { quoted } from "../../src/base/error.ts";
import { nameKey, normalName, visibleName } from "../../src/base/names.ts";
import { AgentError, matchModel } from "../../src/index.ts";
import { spec } from "../fixtures/events.ts";
import { setUp } from "../fixtures/manager.ts";

const NFD = "Cafe\u0301";
const NFC = "Caf\u00e9";

test("the same letters are the same name, however they are composed", () => {
	expect(normalName(` ${NFD} `)).toBe(NFC);
	expect(nameKey(NFD)).toBe(nameKey(NFC.toUpperCase()));
	const { manager } = setUp();
	expect(manager.spawn(spec, { name: NFD }).name).toBe(NFC);
	const models = [{ provider: "fake", id: NFC }];
	expect(matchModel(`fake/${NFD}`, models).model).toBe(models[0]);
});

test.each([
	["a zero-width space", "sc\u200bout", "U+200B"],
	["a joiner", "scout\u200d", "U+200D"],
	["a byte order mark inside", "sc\ufeffout", "U+FEFF"],
	["a turned direction", "sc\u202eout", "U+202E"],
	["a soft hyphen", "sc\u00adout", "U+00AD"],
	["a variation selector alone", "scout\ufe0f", "U+FE0F"],
	["another variation selector", "scout\u{e0100}", "U+E0100"],
	["a tag", "scout\u{e0041}", "U+E0041"],
	["a letter that is blank", "scout\u3164", "U+3164"],
	["a joiner of graphemes", "sc\u034fout", "U+034F"],
])("%s in a name is refused, and the error names it", (_what, name, code) => {
	const refused = `contains an invisible character, ${code}. Leave it out.`;
	expect(() => visibleName(name, "name")).toThrow(refused);
	expect(() => setUp().manager.spawn(spec, { name })).toThrow(refused);
	expect(() => matchModel(name, [{ provider: "fake", id: "scout" }])).toThrow(refused);
});

test.each(["👩\u200d👧", "❤\ufe0f", "👍🏽 scout", "नमस्ते", "عربي", "한국어"])("%s is a name like any other", (name) => {
	expect(visibleName(name, "name")).toBe(name.normalize("NFC"));
});

test("no error repeats its whole input", () => {
	const endless = "x".repeat(10_000_000);
	expect(new AgentError("bad_cwd", `The working directory ${endless} is not there.`).message).toHaveLength(4_000);
	expect(quoted(endless).length).toBeLessThan(100);
	expect(() => visibleName(`\u200b${endless}`, "name")).toThrow(/^.{1,200}$/);
});
