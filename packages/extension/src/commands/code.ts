/** All that comes with the first use of a command, as one file. */
export { menuCommand } from "../menu/menu.ts";
export { subagentCommand } from "./subagent.ts";
