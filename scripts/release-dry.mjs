#!/usr/bin/env node
/**
 * `npm run release:dry`: what the next release would be. It versions all public packages and writes their changelogs in
 * a copy of the working tree, prints both, and leaves the tree as it is.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const copy = mkdtempSync(join(tmpdir(), "pi-subagents-release-"));

try {
	copyTree();
	// Changelogs name the commit of a change, so the copy needs one.
	const nobody = ["-c", "user.name=dry run", "-c", "user.email=dry-run@localhost", "-c", "commit.gpgsign=false"];
	git(["init", "--quiet", "--initial-branch=main"]);
	git(["add", "--all"]);
	git([...nobody, "commit", "--quiet", "--no-verify", "--message=dry run"]);
	const before = versions();
	execFileSync(process.execPath, [join(root, "node_modules/@changesets/cli/bin.js"), "version"], {
		cwd: copy,
		stdio: ["ignore", "ignore", "inherit"],
	});
	const after = versions();
	for (const [name, { version }] of after) console.log(`${name} ${before.get(name)?.version} → ${version}`);
	for (const [name, { dir }] of after) console.log(`\n${newest(dir) ?? `${name} has no changelog`}`);
} finally {
	rmSync(copy, { recursive: true, force: true });
}

/** Everything that is, or could be, committed. */
function copyTree() {
	const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
	for (const file of list.toString().split("\0").filter(Boolean)) {
		if (!existsSync(join(root, file))) continue; // deleted, but not yet in a commit
		mkdirSync(dirname(join(copy, file)), { recursive: true });
		cpSync(join(root, file), join(copy, file));
	}
	symlinkSync(join(root, "node_modules"), join(copy, "node_modules"), "junction");
}

function git(args) {
	execFileSync("git", args, { cwd: copy, stdio: ["ignore", "ignore", "inherit"] });
}

function versions() {
	const dirs = readdirSync(join(copy, "packages")).map((name) => join(copy, "packages", name));
	return new Map(
		dirs.flatMap((dir) => {
			const { name, version, private: isPrivate } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
			return isPrivate ? [] : [[name, { version, dir }]];
		}),
	);
}

/** The title of a changelog and its first section. */
function newest(dir) {
	const file = join(dir, "CHANGELOG.md");
	if (!existsSync(file)) return undefined;
	const [title, first] = readFileSync(file, "utf8").split(/^(?=## )/m);
	return `${title.trim()}\n\n${(first ?? "").trim()}`;
}
