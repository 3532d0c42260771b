/** Everything the first use of a command loads, as one bundle. */
export { mentions } from "./input/mention-actions.ts";
export { agentsScreen, type MenuDeps, menuCommand } from "./menu/menu.ts";
export { resumeInterrupted } from "./subagent/start-stop.ts";
export { subagentCommand } from "./subagent/subagent.ts";
export type { CommandDeps } from "./subcommand.ts";
export { workflowCommand } from "./workflow/workflow.ts";
