import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

// Longer than the waits of the drivers: their errors show the screen or stderr, a test timeout shows nothing.
export default mergeConfig(base, { test: { testTimeout: 90_000, hookTimeout: 120_000 } });
