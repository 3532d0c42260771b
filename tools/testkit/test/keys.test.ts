/** What is sent for a key. */
import { expect, test } from "vitest";
import { bytesOf } from "../src/drivers/keys.ts";
import type { Key } from "../src/index.ts";

test.each<[Key, string]>([
	["enter", "\r"],
	["escape", "\x1b"],
	["shift+tab", "\x1b[Z"],
	["ctrl+c", "\x03"],
	["alt+a", "\x1ba"],
	["alt+up", "\x1b[1;3A"],
])("%s", (key, bytes) => {
	expect(bytesOf(key)).toBe(bytes);
});

test("unknown keys are refused", () => {
	expect(() => bytesOf("ctrl+nothing")).toThrow("Unknown key ctrl+nothing");
});
