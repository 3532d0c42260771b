import type { Preset, Thinking } from "@pi-subagents/presets";
import { expectTypeOf, test } from "vitest";
import type { PresetFields, ThinkingLevel } from "../../src/index.ts";

test("a preset is what the resolver takes", () => {
	expectTypeOf<Preset>().toExtend<PresetFields>();
	expectTypeOf<Thinking>().toEqualTypeOf<ThinkingLevel>();
});
