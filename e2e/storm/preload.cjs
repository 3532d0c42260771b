/**
 * Loaded before anything else into every Node process of a storm (`NODE_OPTIONS`): pi, wrappers, and the pis that they run.
 * What `weather.json` says is how the disk and the clock are at this moment: writing to our directories fails as it does
 * on a disk that is full, read-only or broken, for root too, and the time of day jumps. Reading always works.
 */
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");
const { dirname, join, resolve } = require("node:path");
const { fileURLToPath } = require("node:url");
const threads = require("node:worker_threads");

const root = process.env.PI_CODING_AGENT_DIR && dirname(process.env.PI_CODING_AGENT_DIR);
if (root) change(root);

function change(root) {
	const real = { ...fs, promises: { ...fs.promises } };
	const RealDate = Date;
	let looked = Number.NEGATIVE_INFINITY;
	let weather = {};
	let writes = 0;

	/** At most so old: it is asked for at every look at the clock. */
	const FRESH_MS = 5;
	const now = () => {
		if (performance.now() - looked < FRESH_MS) return weather;
		looked = performance.now();
		try {
			weather = JSON.parse(real.readFileSync(join(root, "weather.json"), "utf8"));
		} catch {
			// There is none yet, or it is just being written: as before.
		}
		return weather;
	};

	class JumpingDate extends RealDate {
		constructor(...args) {
			if (args.length === 0) super(JumpingDate.now());
			else super(...args);
		}
		static now() {
			return RealDate.now() + (now().clockMs ?? 0);
		}
	}
	globalThis.Date = JumpingDate;

	const pathOf = (path) => {
		if (typeof path === "string") return resolve(path);
		return path instanceof URL ? fileURLToPath(path) : undefined;
	};
	/** What writing there fails with now, if it does. */
	const faultAt = (path) => {
		const { disk, under = [] } = now();
		const place = disk && pathOf(path);
		return place && under.some((dir) => place.startsWith(dir)) ? disk : undefined;
	};
	const failure = (code, call, path) => {
		const told = { at: RealDate.now(), pid: process.pid, code, call, path: String(path) };
		real.appendFileSync(join(root, "faults.jsonl"), `${JSON.stringify(told)}\n`);
		const error = new Error(`${code}: ${WORDS[code]}, ${call} '${path}'`);
		return Object.assign(error, { code, syscall: call, errno: -1, path: String(path) });
	};
	const WORDS = { ENOSPC: "no space left on device", EROFS: "read-only file system", EACCES: "permission denied" };

	/** How much of it still fits, when it does not fit as a whole: lines are torn. */
	const fitting = (length) => [0, Math.floor(length / 2), Math.max(0, length - 1)][writes++ % 3];
	const bytesOf = (data, options) => {
		if (typeof data !== "string") return Buffer.from(data.buffer ?? data, data.byteOffset ?? 0, data.byteLength);
		return Buffer.from(data, typeof options === "string" ? options : options?.encoding);
	};

	/** Whole texts at a time. On a full disk there is a file afterwards, with a part of it. */
	const texts = (name, write, isSync) => (path, data, options) => {
		const code = faultAt(typeof path === "number" ? files.get(path) : path);
		if (!code) return write(path, data, options);
		const error = failure(code, name, path);
		const isFull = code === "ENOSPC";
		const bytes = bytesOf(data, options);
		if (isSync) {
			if (isFull) write(path, bytes.subarray(0, fitting(bytes.length)), options);
			throw error;
		}
		const part = isFull ? write(path, bytes.subarray(0, fitting(bytes.length)), options) : Promise.resolve();
		return part.then(() => Promise.reject(error));
	};
	for (const name of ["writeFile", "appendFile"]) {
		fs.promises[name] = texts(name, real.promises[name].bind(real.promises), false);
		fs[`${name}Sync`] = texts(name, real[`${name}Sync`], true);
	}

	/** What makes, moves or removes a name. There is room for removing, not for a new name. */
	const names = { mkdir: 0, mkdtemp: 0, rename: 1, link: 1, symlink: 1, copyFile: 1 };
	const others = { rm: 0, rmdir: 0, unlink: 0, chmod: 0, utimes: 0, truncate: 0 };
	for (const [name, index] of Object.entries({ ...names, ...others })) {
		const refused = (args) => {
			const code = faultAt(args[index]);
			if (!code || (code === "ENOSPC" && (name in others || name === "rename"))) return undefined;
			if (name === "mkdir" && real.existsSync(args[0])) return undefined; // nothing is made
			if (args[1]?.force && !real.existsSync(args[0])) return undefined; // nothing is removed
			return failure(code, name, args[index]);
		};
		const promised = real.promises[name].bind(real.promises);
		fs.promises[name] = async (...args) => {
			const error = refused(args);
			if (error) throw error;
			return promised(...args);
		};
		const sync = real[`${name}Sync`];
		fs[`${name}Sync`] = (...args) => {
			const error = refused(args);
			if (error) throw error;
			return sync(...args);
		};
	}
	const { access, statfs } = real.promises;
	fs.promises.access = async (path, mode = 0) => {
		const code = mode & fs.constants.W_OK ? faultAt(path) : undefined;
		if (code && code !== "ENOSPC") throw failure(code, "access", path);
		return access.call(real.promises, path, mode);
	};
	fs.promises.statfs = async (path, ...more) => {
		const found = await statfs.call(real.promises, path, ...more);
		return faultAt(path) === "ENOSPC" ? Object.assign(found, { bavail: found.bavail * 0 }) : found;
	};

	/** Open files, by their descriptor. */
	const files = new Map();
	const writes_ = (flags = "r") => (typeof flags === "number" ? (flags & 3) !== 0 : flags !== "r");
	const opening = (path, flags) => {
		const code = writes_(flags) ? faultAt(path) : undefined;
		return code && code !== "ENOSPC" ? failure(code, "open", path) : undefined;
	};
	fs.openSync = (path, flags, mode) => {
		const error = opening(path, flags);
		if (error) throw error;
		const descriptor = real.openSync(path, flags, mode);
		if (writes_(flags)) files.set(descriptor, pathOf(path));
		return descriptor;
	};
	fs.closeSync = (descriptor) => {
		files.delete(descriptor);
		return real.closeSync(descriptor);
	};
	fs.writeSync = (descriptor, data, ...more) => {
		const code = faultAt(files.get(descriptor));
		if (!code) return real.writeSync(descriptor, data, ...more);
		const error = failure(code, "write", files.get(descriptor));
		const fits = typeof data === "string" ? 0 : fitting(data.byteLength - (more[0] ?? 0));
		if (code !== "ENOSPC" || fits === 0) throw error;
		return real.writeSync(descriptor, data, more[0] ?? 0, fits); // as the system does: a part, and next time the error
	};

	const open = real.promises.open.bind(real.promises);
	fs.promises.open = async (path, flags, mode) => {
		const error = opening(path, flags);
		if (error) throw error;
		const handle = await open(path, flags, mode);
		if (!writes_(flags)) return handle;
		for (const name of ["write", "writeFile", "appendFile", "sync", "datasync"]) {
			const method = handle[name].bind(handle);
			handle[name] = async (data, ...more) => {
				const code = faultAt(path);
				if (!code) return method(data, ...more);
				const alas = failure(code, name, path);
				if (code === "ENOSPC" && data !== undefined) {
					const bytes = bytesOf(data, more[0]);
					await handle.constructor.prototype.writeFile.call(handle, bytes.subarray(0, fitting(bytes.length)));
				}
				throw alas;
			};
		}
		return handle;
	};

	/** A thread of ours starts without our environment, and the disk is no better there. */
	const { Worker } = threads;
	threads.Worker = class extends Worker {
		constructor(program, options) {
			const { PI_CODING_AGENT_DIR } = process.env;
			super(program, { ...options, execArgv: ["--require", __filename], env: { PI_CODING_AGENT_DIR } });
		}
	};
	syncBuiltinESMExports();
}
