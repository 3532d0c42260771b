/** Commands of the user, run to their end with bounded output. Needs no pi. */

export { runAlertCommand } from "./alert-command.ts";
export {
	type Command,
	type CommandEnd,
	type CommandOptions,
	commandText,
	runCommand,
	whyNoCommands,
} from "./run-command.ts";
