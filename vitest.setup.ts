/**
 * How patient tests are: before each file, as the machine is then. `expect.poll` waits that long without being told, so a
 * test names no time (`scripts/waits.mjs` checks that).
 */
import { vi } from "vitest";
import { patienceMs, WAITS_PER_TEST } from "./tools/testkit/src/wait.ts";

const testTimeout = patienceMs(WAITS_PER_TEST);
vi.setConfig({ testTimeout, hookTimeout: testTimeout, expect: { poll: { timeout: patienceMs() } } });
