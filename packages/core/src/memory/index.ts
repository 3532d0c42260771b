export { prepareMemory } from "./dir.ts";
export { canWrite } from "./notes.ts";
