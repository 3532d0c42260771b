#!/usr/bin/env node
/**
 * Checks that commit subjects follow Conventional Commits: `fix(core): keep partial output when the provider aborts`,
 * at most 72 characters. Only commits after the newest change of this file are checked, since older ones were made under
 * another rule and cannot be reworded. In a shallow clone these are the commits that it holds; without git, none.
 */
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)));
const TYPES = ["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"];
const SUBJECT = new RegExp(`^(?:${TYPES.join("|")})(?:\\([a-z0-9,/-]+\\))?!?: \\S.*[^.\\s]$`);
const MAX_LENGTH = 72;

const [base] = git(["log", "-1", "--format=%H", "--", "scripts/commits.mjs"]);
const commits = base ? git(["log", "--no-merges", "--format=%h %s", `${base}..HEAD`]) : [];
const complaints = commits.flatMap((line) => {
	const [hash, subject] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
	if (/^(?:Revert ".*"|(?:fixup|squash)! )/.test(subject)) return []; // written by git itself
	if (!SUBJECT.test(subject))
		return [`${hash} "${subject}" should read like "fix(core): keep the partial output" (${TYPES.join(", ")})`];
	if (subject.length > MAX_LENGTH) return [`${hash} "${subject}" has ${subject.length} of ${MAX_LENGTH} characters`];
	return [];
});

if (complaints.length > 0) {
	console.error(complaints.map((complaint) => `commits: ${complaint}`).join("\n"));
	process.exit(1);
}

/** The lines that git prints; none where there is no git or no repository. */
function git(args) {
	const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
	return status === 0 ? stdout.split("\n").filter(Boolean) : [];
}
