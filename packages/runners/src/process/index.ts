/** Runs in their own processes, which may outlive this one. Their files are read through `@pi-subagents/runs`. */

export { type GuardOrder, guardOrderVariables } from "./child/guard-wish.ts";
export { withGuardEntries, withoutExtensionEntries } from "./parent/guard-conversation.ts";
export type { ProcessHost } from "./parent/launch.ts";
export { requirePrograms } from "./parent/programs.ts";
export { startingConversation } from "./parent/resume-source.ts";
export { type ProcessRunnerOptions, processRunner } from "./parent/runner.ts";
export { type PiCommand, piCommand } from "./pi/pi-command.ts";
