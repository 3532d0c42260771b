#!/usr/bin/env node
/**
 * Checks that files are opened in one way only. An agent can put a pipe, a device, a link or a file without end where
 * we expect a file; `core/src/files` knows how to refuse them, and Node's own functions do not. A file that opens
 * something else, such as a file of its own package, is listed here with the reason.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What opens a path, follows links, and may wait for ever. */
const OPENERS =
	/^(?:open|openSync|openAsBlob|readFile|readFileSync|writeFile|writeFileSync|appendFile|appendFileSync|createReadStream|createWriteStream|copyFile|copyFileSync|cp|cpSync|truncate|truncateSync)$/;

/** Where they may be used, and why. */
const ALLOWED = {
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

const complaints = [];
const used = new Set();
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
		const openers = names.filter((each) => OPENERS.test(each));
		if (openers.length === 0) continue;
		const rule = Object.keys(ALLOWED).find((each) => path === each || path.startsWith(`${each}/`));
		if (rule) used.add(rule);
		else complaints.push(`${path}: uses ${openers.join(", ")}; open files with @pi-subagents/core/files`);
	}
}
for (const rule of Object.keys(ALLOWED)) if (!used.has(rule)) complaints.push(`${rule} needs no exception any more`);

if (complaints.length > 0) {
	console.error(complaints.join("\n"));
	process.exit(1);
}
console.log("Files are opened through core/src/files only.");

function sourcesIn(dir) {
	return readdirSync(join(root, "packages", dir), { withFileTypes: true }).flatMap((entry) => {
		const path = `${dir}/${entry.name}`;
		if (entry.isDirectory()) return sourcesIn(path);
		return /\.tsx?$/.test(entry.name) ? [path] : [];
	});
}
