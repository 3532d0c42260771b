/**
 * Loads compiled files of ours together with the code that V8 made of them at an earlier start. Node keeps such code, too,
 * but as it is before the file has run: without the functions inside it, and at a start those take longer to compile than
 * to run. So ours is taken when a start is over, and lies beside Node's; where Node keeps none, neither do we.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, getCompileCacheDir } from "node:module";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

/** As Node wraps a module. */
const HEAD = "(function (exports, require, module, __filename, __dirname) {";

const loaded = new Map<string, { exports: unknown }>();
const fresh = new Map<string, Script>();

/** What the file exports. What it asks for from beside itself is loaded in the same way. */
export function load(file: string): unknown {
	const known = loaded.get(file);
	if (known) return known.exports;
	const native = createRequire(file);
	const dir = getCompileCacheDir?.(); // not every program that runs pi has it
	if (dir === undefined) return native(file);
	const module = { exports: {} };
	loaded.set(file, module);
	const run = scriptOf(file, dir).runInThisContext();
	const beside = dirname(file);
	run(
		module.exports,
		(id: string) => (id.startsWith("./") ? load(join(beside, id)) : native(id)),
		module,
		file,
		beside,
	);
	return module.exports;
}

function scriptOf(file: string, dir: string): Script {
	const source = readFileSync(file);
	const path = join(dir, `pi-subagents-${basename(file)}-${crc32(source).toString(16)}`);
	const cachedData = quietly(() => codeAt(path));
	const script = new Script(`${HEAD}${source.toString()}\n})`, {
		filename: file,
		columnOffset: -HEAD.length,
		...(cachedData && { cachedData }),
	});
	if (!cachedData || script.cachedDataRejected) keepLater(path, script);
	return script;
}

const CHECKSUM_BYTES = 4;

/** V8 checks the version and the source of cached code, but not that it is complete or that we wrote it. */
function codeAt(path: string): Buffer | undefined {
	const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a pipe would let us wait
	try {
		const stat = fstatSync(file); // of what is open, whatever has the name by now
		const { uid, size } = stat;
		if (!stat.isFile() || size <= CHECKSUM_BYTES || uid !== (process.getuid?.() ?? uid)) return undefined;
		const bytes = readFileSync(file);
		const code = bytes.subarray(0, -CHECKSUM_BYTES);
		return crc32(code) === bytes.readUInt32LE(code.length) ? code : undefined;
	} finally {
		closeSync(file);
	}
}

function keepLater(path: string, script: Script): void {
	if (fresh.size === 0) process.once("exit", keep);
	fresh.set(path, script);
}

/** Keeps the code of what was loaded without any. The sooner after the start, the less code there is to load next time. */
export function keep(): void {
	process.off("exit", keep);
	for (const [path, script] of fresh) {
		fresh.delete(path);
		const temporary = `${path}.${process.pid}`;
		quietly(() => {
			const code = script.createCachedData();
			const checksum = Buffer.alloc(CHECKSUM_BYTES);
			checksum.writeUInt32LE(crc32(code));
			writeFileSync(temporary, Buffer.concat([code, checksum]), { mode: 0o600, flag: "wx" }); // through no link
			renameSync(temporary, path);
		});
		quietly(() => rmSync(temporary, { force: true })); // still there only where it could not be renamed
	}
}

/** What fails here costs nothing but time: a start compiles what it finds no code for. */
function quietly<Result>(work: () => Result): Result | undefined {
	try {
		return work();
	} catch {
		return undefined;
	}
}
