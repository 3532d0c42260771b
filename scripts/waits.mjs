#!/usr/bin/env node
/**
 * Part of lint: tests pass on a busy machine and in any directory. A test that waits a fixed time for something fails where
 * that takes longer, so waits go through `expect.poll` or the testkit, which are as patient as the machine is busy. And
 * code that looks for a name such as `src` in an absolute path, or takes a file URL for a path, fails in some directories.
 * A line that must do it says why in a comment that begins with "real time:" or "any directory:", on it or above it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));

/** Tests, and what only tests run. */
const TEST_CODE = /^(?:packages\/[^/]+\/test|e2e|tools\/testkit)\/.*\.[cm]?[jt]s$/;
const CODE = /\.[cm]?[jt]sx?$/;
/** These look again and again, as patiently as the machine is busy, so that nobody else has to. */
const HELPERS = ["tools/testkit/src/wait.ts", "e2e/storm/patience.ts"];

const POLL = "wait with `expect.poll`, or with `until` of the testkit";
const LIMIT = "a limit depends on the machine: none, as tests have one, or `patienceMs(waits)`";
/** What is wrong, what to write instead, and what must follow on the next line. */
const WAITS = [
	[/\bvi\.wait(?:For|Until)\(/, "use `expect.poll`, which is as patient as the machine is busy"],
	[/\.poll\(.*\btimeout:/, "`expect.poll` needs no timeout: it is as patient as the machine is busy"],
	[/(?<!\w: )\{(?:[^{}]*,)?\s*timeout: (?:\d[\d_]{3,}|[A-Z_]+)\b/, LIMIT],
	[/^\s*\}, \d{2,}_000\);$/, LIMIT],
	[/^\s*\d{2,}_000,$/, LIMIT, /^\s*\);$/], // the last argument of a call
	[/\bAbortSignal\.timeout\(\d/, LIMIT],
	[
		/\b(?:start(?:Rpc|Tui|Terminal)|\w+Print|runJson|nextRequest|waitFor\w*)\(.*\btimeoutMs: \d/,
		"a driver is as patient as the machine is busy",
	],
	[/\b(?:TIMEOUT|PATIENCE|WAIT)\w* = \d/, LIMIT],
	[/\bdeadline = .*\bnow\(\) \+/, POLL],
	[/\bnow\(\) - \w+\)\.toBeLessThan/, "measure `cpuMs` of the testkit: others use the machine, too"],
];
/** A sleep that is not part of a loop, which looks again. */
const SLEEP = /^(?!.*\b(?:for|while) \().*\bnew Promise.*\bsetTimeout\(\w+, /;
const SLEEP_NAME = /\bsetTimeout as (\w+) \} from "node:timers\/promises"/;

const PATHS = [
	[/\bimport\.meta\.url\)\.pathname\b/, "a URL's path is escaped: use `fileURLToPath`"],
	[/\.replace\(["'/^]*file:\/\//, "use `fileURLToPath`"],
	[/["'`]file:\/\/(?:["'`] \+|\$\{)/, "use `pathToFileURL(path).href`"],
	[/(?<![.\w])import\((?:`\$\{|join\(|resolve\()/, "import a file by its URL: `pathToFileURL(path).href`"],
	[
		/\bimport\b.*\$\{JSON\.stringify\((?:fileURLToPath|join|resolve)\(/,
		"import a file by its URL: `pathToFileURL(path).href`",
	],
	[/\.test\((?:\w+\.)*(?:parentPath|dirname|filename)\)/, "look at the path below a directory that you know"],
	[/\b(?:parentPath|dirname|filename)\.(?:includes|split|match)\(/, "look at the path below a directory that you know"],
];

const complaints = [];
const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
	cwd: root,
	encoding: "utf8",
}).split("\0");
for (const file of files.filter((name) => CODE.test(name) && existsSync(join(root, name)))) {
	const lines = readFileSync(join(root, file), "utf8").split("\n");
	check(file, lines, PATHS, "any directory:");
	if (TEST_CODE.test(file) && !HELPERS.includes(file)) check(file, lines, [...WAITS, ...sleepsIn(lines)], "real time:");
}
if (complaints.length > 0) {
	console.error(complaints.map((complaint) => `waits: ${complaint}`).join("\n"));
	process.exitCode = 1;
}

/** However the file calls it. */
function sleepsIn(lines) {
	const name = lines.map((line) => SLEEP_NAME.exec(line)?.[1]).find(Boolean);
	const call = name && [new RegExp(`^(?!.*\\b(?:for|while) \\().*\\b${name}\\(`), POLL];
	return [[SLEEP, POLL], ...(call ? [call] : [])];
}

function check(file, lines, rules, excuse) {
	for (const [index, line] of lines.entries()) {
		if (line.includes(excuse) || lines[index - 1]?.includes(excuse)) continue;
		for (const [pattern, instead, next = /^/] of rules)
			if (pattern.test(line) && next.test(lines[index + 1] ?? ""))
				complaints.push(`${file}:${index + 1}: ${line.trim().slice(0, 100)}\n    ${instead}`);
	}
}
