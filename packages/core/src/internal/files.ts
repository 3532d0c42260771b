/** Internal: files that an agent may have tampered with, opened and changed by one set of rules. Not part of the versioned interface. */

export { gitRefusal } from "../file-guards/git-guard.ts";
export { leadsInto, pathAsPiReadsIt, realPathOf } from "../file-guards/path-guard.ts";
export { fallbackName, isFallbackName, RUNS_PATH, TEMPORARY_PREFIX } from "../file-guards/runs-path.ts";
export { AppendLog } from "../files/append-log.ts";
export { builtFile } from "../files/built-file.ts";
export {
	createFile,
	createFileSync,
	createWhole,
	jsonText,
	makeRoom,
	replaceWhole,
	UNFINISHED,
} from "../files/create.ts";
export type { FileStep } from "../files/file-steps.ts";
export { fileThread } from "../files/file-thread.ts";
export { BytesFollower } from "../files/follow-bytes.ts";
export { hideFromGit, IGNORE_ALL } from "../files/git-ignore.ts";
export { GrowingFile } from "../files/growing-file.ts";
export { hearLastLine } from "../files/last-line.ts";
export { appendLines, appendLinesSync, endHalfLine, LineFile } from "../files/line-file.ts";
export { newestFile } from "../files/newest-file.ts";
export { BUILD, BUILD_VARIABLE, requireOwnBuild, runsAs, updateNotice } from "../files/own-build.ts";
export {
	copyPlain,
	hideDirectory,
	hideFile,
	MAX_GROWING_BYTES,
	openPlain,
	openPlainSync,
	readPlain,
	readPlainSync,
	touchPlain,
} from "../files/plain-file.ts";
export { editSmallFile, isThere, namesIn, readSmallFile, readSmallFileSync } from "../files/small-file.ts";
export { followLines, type LineFollower } from "../files/tail.ts";
export { isWithin } from "../files/within.ts";
