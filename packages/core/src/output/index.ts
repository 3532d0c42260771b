export { type Extracted, extractJson } from "./extract.ts";
export { type Judgement, judgeAnswer } from "./judge.ts";
export { parseOutputSchema } from "./schema.ts";
export type { ValidateOptions } from "./validate.ts";
export { outputInstruction, repairMessage } from "./words.ts";
