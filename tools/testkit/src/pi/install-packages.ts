/**
 * Installs pinned npm packages into a directory, without dependencies and without running their scripts. Only tarballs with
 * the pinned checksum are unpacked. Several processes may do so at once: each fetches, one wins.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { patienceMs } from "../wait.ts";

export interface PinnedPackage {
	readonly name: string;
	readonly version: string;
	/** As in a lockfile: `sha512-…`. */
	readonly integrity: string;
}

const STAMP = "complete";
const run = promisify(execFile);

/** Puts the tarballs of the packages into a directory, named as `npm pack` does. */
export type FetchTarballs = (into: string, packages: readonly PinnedPackage[]) => Promise<void>;

/** The directory that holds `node_modules` with the packages; a new one for each change of the pins. */
export async function installPackages(
	root: string,
	packages: readonly PinnedPackage[],
	fetchTarballs: FetchTarballs = npmPack,
): Promise<string> {
	const target = join(root, createHash("sha256").update(JSON.stringify(packages)).digest("hex").slice(0, 12));
	if (existsSync(join(target, STAMP))) return target;

	await mkdir(root, { recursive: true });
	const work = await mkdtemp(join(root, "fetching-"));
	try {
		await fetchTarballs(work, packages);
		const unpacked = join(work, "unpacked");
		for (const pinned of packages) {
			await verify(join(work, tarballName(pinned)), pinned);
			await unpack(join(work, tarballName(pinned)), join(unpacked, "node_modules", pinned.name));
		}
		await writeFile(join(unpacked, STAMP), ""); // last, and the rename makes it all appear at once
		await rename(unpacked, target).catch((error: unknown) => {
			if (!existsSync(join(target, STAMP))) throw error; // else another process was faster
		});
		return target;
	} finally {
		await rm(work, { recursive: true, force: true });
	}
}

/** From the registry that the user has configured. */
async function npmPack(into: string, packages: readonly PinnedPackage[]): Promise<void> {
	const specs = packages.map(({ name, version }) => `${name}@${version}`);
	const flags = ["--loglevel=error", "--prefer-offline", "--ignore-scripts", "--fetch-retry-mintimeout=1000"];
	// npm is a script on Windows, which only a shell can start; there is nothing to quote in these arguments.
	const options = { cwd: into, shell: process.platform === "win32", timeout: patienceMs(6) };
	await run("npm", ["pack", ...flags, ...specs], options).catch((error: Error & { stderr?: string }) => {
		const reason = (error.stderr || error.message).split("\n").slice(0, 3).join(" ");
		throw new Error(`npm could not fetch ${specs.join(", ")}: ${reason}`, { cause: error });
	});
}

/** What `npm pack` calls the file. */
function tarballName({ name, version }: PinnedPackage): string {
	return `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
}

async function verify(tarball: string, pinned: PinnedPackage): Promise<void> {
	const digest = createHash("sha512")
		.update(await readFile(tarball))
		.digest("base64");
	const integrity = `sha512-${digest}`;
	if (integrity === pinned.integrity) return;
	throw new Error(`${pinned.name}@${pinned.version} has the checksum ${integrity}, not ${pinned.integrity}`);
}

async function unpack(tarball: string, into: string): Promise<void> {
	await mkdir(into, { recursive: true });
	await run("tar", ["-xzf", tarball, "-C", into, "--strip-components=1"]);
}
