/**
 * Other people's packages, as published, to measure beside ours in the same run. Fetched by pinned version and checksum
 * into the cache; nothing of theirs is installed or run but what is measured.
 */
import { existsSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { installPackages, workspaceCache } from "@pi-subagents-dev/testkit";

const TINTINWEB = {
	name: "@tintinweb/pi-subagents",
	version: "0.14.1",
	integrity: "sha512-o2MuRJ7AYtrCe5a8mdi46El72PcQ/CMYCsKta4h0vVgt7tgsM/iGR1g0LYsHfzPjEotI3SE1gK+uwicRKS51Eg==",
} as const;

/** Its loader of `.pi/agents`, which it calls at start and at every call of its tool. */
export async function loadTintinwebPresets(): Promise<(cwd: string) => { size: number }> {
	const root = await installPackages(workspaceCache("rivals"), [TINTINWEB]);
	await lendPi(root);
	const module = await import(pathToFileURL(join(root, "node_modules", TINTINWEB.name, "dist/custom-agents.js")).href);
	return module.loadCustomAgents;
}

/** It imports pi, which a user has beside it. */
async function lendPi(root: string): Promise<void> {
	const link = join(root, "node_modules/@earendil-works");
	if (existsSync(link)) return;
	const pi = fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent"));
	await mkdir(dirname(link), { recursive: true });
	await symlink(dirname(dirname(dirname(pi))), link, "junction");
}
