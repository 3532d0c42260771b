/**
 * Other people's packages, as published, to measure beside ours in the same run. Fetched by pinned version and checksum
 * into the cache; nothing of theirs is installed or run but what is measured.
 */
import { existsSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { installPackages, type PinnedPackage, workspaceCache } from "@pi-subagents-dev/testkit";

type Rival = readonly [itself: PinnedPackage, ...needed: PinnedPackage[]];

/** Its agents are sessions in pi's own process. */
export const IN_PROCESS: Rival = [
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

/** Its background agents are processes of their own, and those that are waited for are sessions. */
export const PROCESS: Rival = [
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
	{
		name: "acorn",
		version: "8.18.0",
		integrity: "sha512-lGq+9yr1/GuAWaVYIHRjvvySG5/4VfKIvC8EWxStPdcDh/Ka7FG3twP6v4d5BkravUilhIAsG4Qj83t02LWUPQ==",
	},
	{
		name: "jiti",
		version: "2.7.0",
		integrity: "sha512-AC/7JofJvZGrrneWNaEnJeOLUx+JlGt7tNa0wZiRPT4MY1wmfKjt2+6O2p2uz2+skll8OZZmJMNqeke7kKbNgQ==",
	},
	{
		name: "typebox",
		version: "1.1.38",
		integrity: "sha512-pZ0aQPmMmXoUvSbeuWf/Hzsc+avNw/Zd6VeE8CFgkVGWyuHPJvqeJJDeJqLve+K70LvjYIoleGcoJHPT17cWoA==",
	},
	{
		name: "undici",
		version: "8.10.0",
		integrity: "sha512-HvltHd7avK13QIw/oLe4qoOLyoVSoafqJ2jYOrtMRBkbYT31eiBQ8O0ehRKZiEZCMEyLFQNIADpgCWC5fALvYQ==",
	},
];

export const RIVALS: readonly Rival[] = [IN_PROCESS, PROCESS];

/** Its loader of `.pi/agents`, which it calls at start and at every call of its tool. */
export async function loadRivalPresets(): Promise<(cwd: string) => { size: number }> {
	const module = await import(pathToFileURL(join(await rivalDir(IN_PROCESS), "dist/custom-agents.js")).href);
	return module.loadCustomAgents;
}

/** A module of a package that comes as TypeScript, which pi loads with jiti. */
export async function importSource(dir: string, path: string) {
	const fromPi = createRequire(import.meta.resolve("@earendil-works/pi-coding-agent"));
	const { createJiti } = await import(pathToFileURL(fromPi.resolve("jiti")).href);
	return createJiti(import.meta.url).import(join(dir, path));
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
