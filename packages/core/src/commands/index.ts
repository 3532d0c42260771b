/** Commands of the user, run to their end with bounded output. Needs no pi. */
export { type Command, type CommandEnd, type CommandOptions, runCommand } from "./run-command.ts";
