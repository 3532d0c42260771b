/**
 * Files share what a run of the tests builds, and many wait for processes, so two run at once. What needs sshd, nats-server or network
 * namespaces is for the full run.
 */
import { mergeConfig } from "vitest/config";
import base from "../../vitest.base.ts";

const exclude = process.env.TEST_FULL === "1" ? [] : ["test/fleet/**", "test/nats/**", "test/ssh/**"];

export default mergeConfig(base, { test: { globalSetup: ["../runners/global-setup.ts"], maxWorkers: 2, exclude } });
