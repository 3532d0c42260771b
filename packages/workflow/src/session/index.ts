/** Workflows in a session with a manager and a launcher: runner, saved files, control. Loads without pi. */
export { newsOf, type WorkflowNews } from "./news.ts";
export { type FileRun, openPaused, type PausedDeps, runFile } from "./open.ts";
export type { SavedWorkflow, SavedWorkflows } from "./saved.ts";
export {
	createWorkflows,
	type StartOptions,
	type WorkflowCall,
	type WorkflowHost,
	type Workflows,
	type WorkflowsDeps,
} from "./workflows.ts";
