/** The command line of pi-subagents as a function, for programs that embed it. */
export type { Output } from "./commands/output.ts";
export { type CliOptions, run } from "./run.ts";
