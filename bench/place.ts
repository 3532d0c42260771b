/**
 * Imported first: where benchmarks keep their files. On ext4, creating a file takes up to ten times longer near files
 * that were deleted in the last minutes, as tests do in the temporary directory all the time. A user's project is no
 * such place, so benchmarks get one of their own, in which nothing is deleted before the end.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const QUIET = "/var/tmp";
const place = mkdtempSync(join(existsSync(QUIET) ? QUIET : tmpdir(), "pi-bench-"));
process.env.TMPDIR = place;
process.env.KEEP_TEMP_DIRS = "1";
process.once("exit", () => rmSync(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
