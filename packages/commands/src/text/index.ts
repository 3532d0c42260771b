export { footerText } from "./footer-text.ts";
export { registerNotes } from "./note.ts";
