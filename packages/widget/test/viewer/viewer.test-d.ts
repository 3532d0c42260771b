import type { KeybindingsManager } from "@earendil-works/pi-tui";
import type { Transcript } from "@pi-subagents/core";
import { expectTypeOf, test } from "vitest";
import type { ConversationSource, ViewerKeys } from "../../src/index.ts";

test("a transcript of core is a source, and pi's keybindings fit", () => {
	expectTypeOf<Transcript>().toExtend<ConversationSource>();
	expectTypeOf<KeybindingsManager>().toExtend<ViewerKeys>();
});
