/**
 * Loaded before anything else into pi (`NODE_OPTIONS`). While the file that `JOURNAL_FUSE` names holds a number, pi kills
 * itself as soon as so many entries of a workflow's journal are written: nothing of it runs after that entry.
 */
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

const { JOURNAL_FUSE: fuse } = process.env;
const { openSync, writeSync } = fs;
const journals = new Set();
let entries = 0;

if (fuse && fs.existsSync(fuse)) {
	const last = Number(fs.readFileSync(fuse, "utf8"));
	fs.openSync = (path, ...more) => {
		const file = openSync(path, ...more);
		if (String(path).endsWith(".workflow.jsonl") && more[0] & fs.constants.O_APPEND) journals.add(file);
		return file;
	};
	fs.writeSync = (file, ...more) => {
		const written = writeSync(file, ...more);
		if (journals.has(file) && ++entries === last) {
			fs.unlinkSync(fuse);
			process.kill(process.pid, "SIGKILL");
		}
		return written;
	};
	syncBuiltinESMExports();
}
