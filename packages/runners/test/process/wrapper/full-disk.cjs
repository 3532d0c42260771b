/** Loaded into the wrapper (`--require`): there is no space left for the files that `FULL_FOR` names. */
const fs = require("node:fs");
const { basename } = require("node:path");
const { syncBuiltinESMExports } = require("node:module");

const full = (process.env.FULL_FOR ?? "").split(",");
const { openSync, writeSync } = fs;
const files = new Set();
fs.openSync = (path, ...more) => {
	const file = openSync(path, ...more);
	if (full.includes(basename(String(path)))) files.add(file);
	return file;
};
fs.writeSync = (file, ...more) => {
	if (files.has(file))
		throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
	return writeSync(file, ...more);
};
syncBuiltinESMExports();
