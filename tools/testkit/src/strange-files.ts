/**
 * What an agent can put where a file is expected. Nothing here makes a careless program wait for ever or read without
 * end, so a test fails instead of hanging: each pipe has a process at its other end, and the device is empty.
 */
import { execFile, spawn } from "node:child_process";
import { mkdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export type StrangeKind =
	| "a pipe"
	| "a socket"
	| "a directory"
	| "a link to another file"
	| "a link to nothing"
	| "a link to itself"
	| "a link to a device"
	| "a file of a terabyte";

export const STRANGE_KINDS: readonly StrangeKind[] = [
	"a pipe",
	"a socket",
	"a directory",
	"a link to another file",
	"a link to nothing",
	"a link to itself",
	"a link to a device",
	"a file of a terabyte",
];

export interface StrangeFile extends AsyncDisposable {
	/** Rejects if what a link leads to was changed or created. */
	assertUntouched(): Promise<void>;
}

const OTHER = "belongs to another program\n";

/** Puts it at a path that is free. `use`: what the program under test will try with it. */
export async function putStrange(kind: StrangeKind, path: string, use: "read" | "append"): Promise<StrangeFile> {
	const other = join(dirname(path), "other-file");
	const undo: (() => unknown)[] = [];
	switch (kind) {
		case "a pipe": {
			await promisify(execFile)("mkfifo", [path]);
			const script = use === "read" ? 'echo "{}" > "$1"' : 'cat "$1"';
			const atOtherEnd = spawn("sh", ["-c", script, "sh", path], { stdio: "ignore" });
			undo.push(() => atOtherEnd.kill("SIGKILL"));
			break;
		}
		case "a socket": {
			const server = createServer();
			await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
			undo.push(() => new Promise((resolve) => server.close(resolve)));
			break;
		}
		case "a directory":
			await mkdir(path);
			break;
		case "a link to another file":
			await writeFile(other, OTHER);
			await symlink(other, path);
			break;
		case "a link to nothing":
			await symlink(other, path);
			break;
		case "a link to itself":
			await symlink(path, path);
			break;
		case "a link to a device":
			await symlink("/dev/null", path);
			break;
		case "a file of a terabyte":
			await writeFile(path, "{}\n");
			await truncate(path, 2 ** 40);
	}
	return {
		async assertUntouched() {
			const text = await readFile(other, "utf8").catch(() => undefined);
			const expected = kind === "a link to another file" ? OTHER : undefined;
			if (text !== expected) throw new Error(`what ${kind} leads to was changed: ${JSON.stringify(text)}`);
		},
		async [Symbol.asyncDispose]() {
			for (const each of undo) await each();
		},
	};
}
