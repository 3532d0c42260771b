export { codeOf, isMissing } from "../base/error-code.ts";
export { leadsInto } from "../file-guards/path-guard.ts";
export { createFile, createWhole, jsonText, replaceWhole } from "./create.ts";
export { openPlain, openPlainSync, readPlain, readPlainSync } from "./plain-file.ts";
export { editSmallFile, isThere, namesIn, readSmallFile, readSmallFileSync } from "./small-file.ts";
export { isWithin } from "./within.ts";
export { workerFile } from "./worker-file.ts";
