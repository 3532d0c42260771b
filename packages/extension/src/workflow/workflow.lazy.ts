/** Not loaded at startup: most sessions run no workflow. */

export const loadWorkflow = () => import("@pi-subagents/workflow/session");
