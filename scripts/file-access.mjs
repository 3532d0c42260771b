#!/usr/bin/env node
/**
 * Checks that files are opened, changed and replaced in one way only. An agent can put a pipe, a device, a link or a
 * file without end where we expect a file; `core/src/files` knows how to refuse them, and Node's own functions do not.
 * Three kinds of calls are found: those that open or change what a path leads to, those that give a path to something
 * else, and those that delete a directory with its content. A file that must make one, such as for a file of its own
 * package, is listed with the reason. Deleting or creating one name follows no link, and is free.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Opens or changes what a path leads to, follows links, and may wait for ever. */
const OPENERS =
	/^(?:open|openAsBlob|readFile|writeFile|appendFile|createReadStream|createWriteStream|copyFile|cp|truncate|l?chmod|l?chown|l?utimes)(?:Sync)?$/;
/** Gives a path to another file: a directory on its way may have become a link, or its place may be taken. */
const MOVERS = /^(?:rename|link|symlink)(?:Sync)?$/;
/** Deletes a directory with its content, part of which may become a link meanwhile. */
const TREE_REMOVAL = /\brm(?:Sync)?\([^;]*?\brecursive\b/;

/** Where they may be used, and why. */
const MAY_OPEN = {
	"core/src/files": "the helpers themselves",
	"core/src/signals/process-facts.ts": "reads /proc",
	"cli/src/bin.ts": "reads the package's own manifest",
	"presets/src/bin.ts": "reads the package's own manifest",
	"progress/src/bin.ts": "reads the package's own manifest",
	"presets/src/catalogue/read-file.ts": "the same care, in a package that imports no other",
	"schedule/src/store/journal.ts": "the same care, in a package that imports no other",
	"report/src/html/html.ts": "reads the page that the package ships",
	"remote/src/stdio/protocol.ts": "creates a new file, and fails if anything is there",
	"remote/src/nats/blobs.ts": "creates a new file, and fails if anything is there",
	"extension/src/workflow/workflows.ts": "writes to standard output",
};
const MAY_MOVE = {
	"core/src/files": "the helpers themselves",
	"worktree/src/prepare.ts": "makes the links of a new checkout, and fails if anything is there",
	"remote/src/near/retry.ts": "moves the directory of a run that is over, beside itself",
	"schedule/src/store": "the same care, in a package that imports no other",
};
const MAY_REMOVE_TREES = {
	"runners/src/process/parent/detached-runner.ts": "a temporary directory of its own",
	"runs/src/proof.ts": "in pi's own directory",
	"runners/src/tmux/env-socket.ts": "a temporary directory of its own",
	"worktree/src/git.ts": "a temporary directory of its own",
	"worktree/src/place.ts": "the checkout of an agent that is over",
	"launch/src/jobs/prune.ts": "in pi's own directory",
	"remote/src/far/worker.ts": "in the worker's own directory, of runs that are over",
	"remote/src/fleet/engine-process.ts": "in the engine's own directory",
	"remote/src/git/near-repository.ts": "a temporary directory of its own",
	"remote/src/nats/near-link.ts": "a temporary directory of its own",
	"remote/src/stdio/near.ts": "a temporary directory of its own",
	"schedule/src/store/journal.ts": "a directory that it has just made, and its own old ones",
};

const complaints = [];
const used = new Map([MAY_OPEN, MAY_MOVE, MAY_REMOVE_TREES].map((allowed) => [allowed, new Set()]));
for (const name of readdirSync(join(root, "packages"))) {
	for (const path of sourcesIn(`${name}/src`)) {
		const text = readFileSync(join(root, "packages", path), "utf8");
		const names = [...text.matchAll(/import\s*\{([^}]*)\}\s*from\s*"node:fs(?:\/promises)?"/g)].flatMap(([, list]) =>
			list.split(",").map(
				(each) =>
					each
						.trim()
						.replace(/^type\s+/, "")
						.split(/\s+as\s+/)[0],
			),
		);
		if (/import\s+(?:\*\s+as\s+\w+|\w+)\s+from\s*"node:fs(?:\/promises)?"/.test(text))
			complaints.push(`${path}: imports all of node:fs; name what it needs`);
		const matching = (pattern) => names.filter((each) => pattern.test(each)).join(", ");
		check(path, MAY_OPEN, matching(OPENERS), "open and change files with @pi-subagents/core/internal/files");
		check(path, MAY_MOVE, matching(MOVERS), "replace files with @pi-subagents/core/internal/files");
		check(path, MAY_REMOVE_TREES, TREE_REMOVAL.test(text) ? "rm of a directory" : "", "delete file by file");
	}
}
for (const [allowed, rules] of used) {
	for (const rule of Object.keys(allowed)) if (!rules.has(rule)) complaints.push(`${rule} needs no exception any more`);
}

if (complaints.length > 0) {
	console.error(complaints.join("\n"));
	process.exit(1);
}
console.log("Files are opened, changed and replaced through core/src/files only.");

/** `calls`: what the file uses, as text; empty if nothing. */
function check(path, allowed, calls, instead) {
	if (calls === "") return;
	const rule = Object.keys(allowed).find((each) => path === each || path.startsWith(`${each}/`));
	if (rule) used.get(allowed).add(rule);
	else complaints.push(`${path}: uses ${calls}; ${instead}`);
}

function sourcesIn(dir) {
	return readdirSync(join(root, "packages", dir), { withFileTypes: true }).flatMap((entry) => {
		const path = `${dir}/${entry.name}`;
		if (entry.isDirectory()) return sourcesIn(path);
		return /\.tsx?$/.test(entry.name) ? [path] : [];
	});
}
