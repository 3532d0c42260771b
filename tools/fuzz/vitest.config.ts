import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

/** In the full run only: it runs the other test several times, in a copy of the tree. */
const exclude = process.env.TEST_FULL === "1" ? [] : ["test/new-field.test.ts"];

export default mergeConfig(base, { test: { exclude } });
