/** Files share what a run of the tests builds, and many wait for processes, so two run at once. */
import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

export default mergeConfig(base, { test: { globalSetup: ["../core/global-setup.ts"], maxWorkers: 2 } });
