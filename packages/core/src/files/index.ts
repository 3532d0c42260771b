export { codeOf, isMissing } from "../base/error-code.ts";
export { leadsInto } from "../file-guards/path-guard.ts";
export { builtFile } from "./built-file.ts";
export { createFile, createWhole, jsonText, makeRoom, replaceWhole } from "./create.ts";
export { requireOwnBuild, runsAs, updateNotice } from "./own-build.ts";
export { hideDirectory, openPlain, openPlainSync, readPlain, readPlainSync } from "./plain-file.ts";
export { editSmallFile, isThere, namesIn, readSmallFile, readSmallFileSync } from "./small-file.ts";
export { isWithin } from "./within.ts";
