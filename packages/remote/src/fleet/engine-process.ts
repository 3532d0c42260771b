/** A nats-server of this user on the loopback, with a random token that only they can read, and files of its own. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { isObject, parseJson } from "@pi-subagents/core/internal/base";
import { createFile, createWhole, readPlain, replaceWhole } from "@pi-subagents/core/internal/files";
import { signalChild } from "@pi-subagents/core/internal/signals";

export interface EngineProcess {
	url: string;
	tokenFile: string;
	version: string;
	/** The port that it had before and that is not free any more. */
	movedFrom?: number;
	/** Resolves with what it said last, when it ended without being asked to. */
	readonly failed: Promise<string>;
	stop(): Promise<void>;
}

/** Where packages put it, besides the PATH: some of these are only on the PATH of root. */
const PLACES = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin", join(homedir(), "go", "bin")];
const START_MS = 15_000;
const STOP_MS = 5_000;
const LOOK_MS = 50;
const MAX_TOKEN_BYTES = 1_000;

export const HOW_TO_INSTALL = `nats-server is not installed. Install it, then run this again:

  Debian, Ubuntu   sudo apt install nats-server
  macOS            brew install nats-server
  Windows          winget install NATSAuthors.NATSServer
  others           https://github.com/nats-io/nats-server/releases

To try an agent on a worker without it, over a pipe: "machine": "local" in your settings.
`;

/** Undefined if it is not installed. */
export function findNatsServer(path = process.env.PATH ?? ""): string | undefined {
	const name = process.platform === "win32" ? "nats-server.exe" : "nats-server";
	const dirs = [...path.split(delimiter).filter((dir) => dir !== ""), ...PLACES];
	return dirs.map((dir) => join(dir, name)).find(isProgram);
}

/**
 * `dir` keeps its token, its port and its store, so that settings stay valid when it is started again. If another program
 * has its port, it gets a new one, unless it `stays`, because a worker knows the old one.
 */
export async function startEngine(program: string, dir: string, { stays = false } = {}): Promise<EngineProcess> {
	await mkdir(dir, { recursive: true, mode: 0o700 });
	const tokenFile = join(dir, "token");
	await createWhole(tokenFile, `${randomBytes(24).toString("hex")}\n`);
	const token = (await readPlain(tokenFile, MAX_TOKEN_BYTES))?.toString("utf8").trim() ?? "";
	if (!/^[\w.~+/=-]{16,}$/.test(token)) throw new Error(`${tokenFile} is broken: delete it, and start the fleet again`);
	const { stdout } = await promisify(execFile)(program, ["--version"]);
	const version = /(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? "of unknown version";
	const known = Number((await readPlain(join(dir, "port"), 100))?.toString("utf8") ?? "");
	const first = await attempt(program, dir, known > 0 ? known : -1, token);
	const isTaken = known > 0 && typeof first === "string";
	const started = isTaken && !stays ? await attempt(program, dir, -1, token) : first;
	if (typeof started === "string") throw new Error(`nats-server could not be started: ${started}`);
	const { child, failed, port } = started;
	await replaceWhole(join(dir, "port"), String(port));
	const moved = isTaken ? { movedFrom: known } : {};
	return { url: `nats://127.0.0.1:${port}`, tokenFile, version, ...moved, failed, stop: () => stop(child) };
}

interface Started {
	child: ChildProcess;
	port: number;
	failed: Promise<string>;
}

/** The token is in a file: other users can read command lines. */
async function attempt(program: string, dir: string, port: number, token: string): Promise<Started | string> {
	const [config, portsDir] = [join(dir, "nats.conf"), join(dir, "ports")];
	await rm(portsDir, { recursive: true, force: true });
	await mkdir(portsDir, { mode: 0o700 });
	const lines = [
		`listen: "127.0.0.1:${port}"`,
		`authorization { token: "${token}" }`,
		`jetstream { store_dir: ${JSON.stringify(join(dir, "store"))} }`,
		`ports_file_dir: ${JSON.stringify(portsDir)}`,
	];
	await rm(config, { force: true });
	await createFile(config, `${lines.join("\n")}\n`);
	// Its own group: Ctrl+C must reach the workers first.
	const child = spawn(program, ["-c", config], { stdio: ["ignore", "ignore", "pipe"], detached: true });
	let said = "";
	child.stderr?.setEncoding("utf8").on("data", (text: string) => {
		said = (said + text).slice(-4_000);
	});
	let hasEnded = false;
	const failed = Promise.race([once(child, "exit"), once(child, "error")]).then(() => {
		hasEnded = true;
		return lastLine(said);
	});
	for (let waited = 0; waited < START_MS && !hasEnded; waited += LOOK_MS) {
		const found = /Server is ready/.test(said)
			? await portIn(join(portsDir, `nats-server_${child.pid}.ports`))
			: undefined;
		if (found !== undefined) return { child, port: found, failed };
		await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
	}
	await stop(child);
	return hasEnded ? failed : "it does not answer";
}

async function portIn(path: string): Promise<number | undefined> {
	const value = parseJson((await readPlain(path, 10_000))?.toString("utf8") ?? "");
	const [address] = isObject(value) && Array.isArray(value.nats) ? value.nats : [];
	return typeof address === "string" ? Number(new URL(address).port) : undefined;
}

async function stop(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
	const ended = once(child, "exit");
	signalChild(child, "SIGTERM");
	const timer = setTimeout(() => signalChild(child, "SIGKILL"), STOP_MS);
	await ended;
	clearTimeout(timer);
}

function lastLine(text: string): string {
	const line = text.trim().split("\n").at(-1) ?? "";
	return line.replace(/^\[\d+\] \S+ \S+ \[\w+\] /, "");
}

function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
