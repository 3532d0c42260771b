export { registerNotes } from "./note.ts";
