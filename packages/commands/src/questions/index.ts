export { createDialogs, shareDialogs } from "./dialogs.ts";
export { createExtensionDialogs } from "./extension-dialogs.ts";
export { createQuestions, QUESTION, type Questions, renderQuestion } from "./questions.ts";
