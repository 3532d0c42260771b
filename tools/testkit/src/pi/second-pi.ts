/**
 * A second pi to test with: 1.5.0, which no `npm install` can put together at the time of writing because packages
 * it depends on are missing. Its command-line bundle needs only the three packages that are pinned beside it.
 */
import { join } from "node:path";
import { isFullRun } from "../full-run.ts";
import { workspaceCache } from "../workspace-cache.ts";
import { installPackages, type PinnedPackage } from "./install-packages.ts";
import { type PiBinary, piIn, piUnderTest } from "./pi-binary.ts";

const PI = {
	name: "@earendil-works/pi-coding-agent",
	version: "1.5.0",
	integrity: "sha512-xNDZ5kqowO6Z03FS2gwAkPEGk1ssxVcYKQ6qZId84mFEvwACvvyc2l0vAMOS+c5zvxLRMLBE9r4y44IGYkMJaQ==",
} as const;

const PACKAGES: readonly PinnedPackage[] = [
	PI,
	{
		// loads extensions
		name: "jiti",
		version: "2.7.0",
		integrity: "sha512-AC/7JofJvZGrrneWNaEnJeOLUx+JlGt7tNa0wZiRPT4MY1wmfKjt2+6O2p2uz2+skll8OZZmJMNqeke7kKbNgQ==",
	},
	{
		// resizes images
		name: "@silvia-odwyer/photon-node",
		version: "0.3.4",
		integrity: "sha512-bnly4BKB3KDTFxrUIcgCLbaeVVS8lrAkri1pEzskpmxu9MdfGQTy8b8EgcD83ywD3RPMsIulY8xJH5Awa+t9fA==",
	},
	{
		// runs the built-in codemode tool
		name: "quickjs-wasi",
		version: "3.6.2",
		integrity: "sha512-FCqGtGOrMgzUiIrMNMA2YnsOxCNwo31dzqXvclXUC6xeT35NJLKXQJsvbeCTjvoFAwZgEAPg8U6+KAPDGXn8Mg==",
	},
];

/** For a test of a promise that does not depend on the version: the oldest supported pi in the gate, every pi in a full run. */
export async function gatePis(): Promise<PiBinary[]> {
	return isFullRun ? availablePis() : [piUnderTest()];
}

/** Every pi, also in the gate, for the compatibility set: `describe.each(await availablePis())("pi $version", …)`. */
export async function availablePis(): Promise<PiBinary[]> {
	const second = await secondPi();
	return second ? [piUnderTest(), second] : [piUnderTest()];
}

/** Fetched once, then cached. If it is not available, that is an error in CI; elsewhere a warning is printed. */
export async function secondPi(install = installPackages): Promise<PiBinary | undefined> {
	try {
		const dir = await install(workspaceCache(`pi-${PI.version}`), PACKAGES);
		return piIn(join(dir, "node_modules", PI.name));
	} catch (error) {
		if (process.env.CI) throw error;
		process.stderr.write(`\nSKIPPING: pi ${PI.version} is not available, so nothing runs on it: ${String(error)}\n`);
		return undefined;
	}
}
