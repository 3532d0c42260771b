import type { Preset } from "@pi-subagents/presets";
import { expectTypeOf, test } from "vitest";
import type { PresetFields } from "../../src/index.ts";

test("a preset is what the resolver takes", () => {
	expectTypeOf<Preset>().toExtend<PresetFields>();
});
