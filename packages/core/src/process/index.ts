/** Runs in their own processes, which may outlive this one. Their files are read through `@pi-subagents/core/runs`. */

export type { ProcessHost } from "./parent/launch.ts";
export { type ProcessRunnerOptions, processRunner } from "./parent/runner.ts";
export type { PiCommand } from "./pi/pi-command.ts";
