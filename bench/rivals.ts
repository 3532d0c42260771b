/**
 * Other people's packages, as published, to measure beside ours in the same run. Fetched by pinned version and checksum
 * into the cache; nothing of theirs is installed or run but what is measured.
 */
import { existsSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { installPackages, type PinnedPackage, workspaceCache } from "@pi-subagents-dev/testkit";

type Rival = readonly [itself: PinnedPackage, ...needed: PinnedPackage[]];

const TINTINWEB: Rival = [
	{
		name: "@tintinweb/pi-subagents",
		version: "0.14.1",
		integrity: "sha512-o2MuRJ7AYtrCe5a8mdi46El72PcQ/CMYCsKta4h0vVgt7tgsM/iGR1g0LYsHfzPjEotI3SE1gK+uwicRKS51Eg==",
	},
	{
		name: "croner",
		version: "10.0.1",
		integrity: "sha512-ixNtAJndqh173VQ4KodSdJEI6nuioBWI0V1ITNKhZZsO0pEMoDxz539T4FTTbSZ/xIOSuDnzxLVRqBVSvPNE2g==",
	},
	{
		name: "nanoid",
		version: "5.1.6",
		integrity: "sha512-c7+7RQ+dMB5dPwwCp4ee1/iV/q2P6aK1mTZcfr1BTuVlyW9hJYiMPybJCcnBlQtuSmTIWNeazm/zqNoZSSElBg==",
	},
];

const NICOBAILON: Rival = [
	{
		name: "pi-subagents",
		version: "0.67.0",
		integrity: "sha512-43FGBi82sbxEGhEfsaj0P7I/rRJfsw1UPuFSVSkjZw0Fy92lrBIB9d3gDTpwmK5hLj3ZzZUnvtlqiKQatySCTw==",
	},
	{
		name: "yaml",
		version: "2.8.3",
		integrity: "sha512-AvbaCLOO2Otw/lW5bmh9d/WEdcDFdQp2Z2ZUH3pX9U2ihyUY0nvLv7J6TrWowklRGPYbB/IuIMfYgxaCPg5Bpg==",
	},
];

export const RIVALS: readonly Rival[] = [TINTINWEB, NICOBAILON];

/** Its loader of `.pi/agents`, which it calls at start and at every call of its tool. */
export async function loadTintinwebPresets(): Promise<(cwd: string) => { size: number }> {
	const module = await import(pathToFileURL(join(await rivalDir(TINTINWEB), "dist/custom-agents.js")).href);
	return module.loadCustomAgents;
}

/** The directory of its package, for pi to load. */
export async function rivalDir(rival: Rival): Promise<string> {
	const root = await installPackages(workspaceCache("rivals"), rival);
	await lendPi(root);
	return join(root, "node_modules", rival[0].name);
}

/** They import pi, which a user has beside them. */
async function lendPi(root: string): Promise<void> {
	const link = join(root, "node_modules/@earendil-works");
	if (existsSync(link)) return;
	const pi = fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent"));
	await mkdir(dirname(link), { recursive: true });
	await symlink(dirname(dirname(dirname(pi))), link, "junction");
}
