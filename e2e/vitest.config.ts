/** Real pi needs patience: a test may wait twice as long as any wait in it, so that the wait gets to say what it saw. */
import { mergeConfig } from "vitest/config";
import base from "../vitest.base.ts";

export default mergeConfig(base, { test: { testTimeout: 90_000 } });
