export { type Judgement, judgeAnswer } from "./check-answer.ts";
export { type Extracted, extractJson } from "./extract.ts";
export { outputInstruction, repairMessage } from "./repair-text.ts";
export { isWrapped, parseOutputSchema } from "./schema.ts";
export type { ValidateOptions } from "./validate.ts";
