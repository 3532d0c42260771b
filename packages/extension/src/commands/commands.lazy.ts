/** Not loaded at startup: most sessions use neither the commands nor the menu, a third of all code. */

export const loadCommands = () => import("@pi-subagents/commands");
