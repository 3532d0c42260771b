/** Kept out of pi's start: most sessions see neither the commands nor the menu, and they are a third of all code. */

export const loadCommands = () => import("./code.ts");
