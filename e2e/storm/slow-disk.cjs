/**
 * Loaded before anything else into pi (`NODE_OPTIONS`): the thread that writes the files of agents inside pi gets its
 * work later, by as many milliseconds as `slow-disk` in the environment's directory says, as on a machine with too much
 * to do. Without that file nothing is different.
 */
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const { dirname, join } = require("node:path");
const threads = require("node:worker_threads");

const { PI_CODING_AGENT_DIR: agentDir } = process.env;
const { existsSync, readFileSync } = fs;
const { Worker } = threads;

if (agentDir && threads.isMainThread) {
	const file = join(dirname(agentDir), "slow-disk");
	const delayMs = () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
	threads.Worker = class extends Worker {
		#isOfFiles;

		constructor(program, options) {
			super(program, options);
			this.#isOfFiles = String(program).includes("file-worker");
		}

		postMessage(...args) {
			const ms = this.#isOfFiles ? delayMs() : 0;
			if (ms === 0) super.postMessage(...args);
			else setTimeout(() => super.postMessage(...args), ms).unref();
		}
	};
	syncBuiltinESMExports();
}
