import { expectTypeOf, test } from "vitest";
import type { FieldKey, Preset, PresetFields, Problem } from "../../src/index.ts";
import { discoverPresets, parsePreset } from "../../src/index.ts";

test("a preset carries all fields, and an origin for each", () => {
	expectTypeOf<Preset>().toExtend<PresetFields>();
	expectTypeOf<keyof Preset["origins"]>().toEqualTypeOf<FieldKey>();
	expectTypeOf<Preset["promptMode"]>().toEqualTypeOf<"append" | "replace">();
	expectTypeOf<Preset["tools"]>().toEqualTypeOf<"*" | readonly string[] | undefined>();
});

test("results are values, never rejections with a type", () => {
	expectTypeOf(parsePreset).returns.toHaveProperty("problems").toEqualTypeOf<readonly Problem[]>();
	expectTypeOf(discoverPresets).returns.resolves.toHaveProperty("presets").toEqualTypeOf<readonly Preset[]>();
});
