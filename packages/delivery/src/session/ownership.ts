/**
 * Which pi delivers results if several have a session open: the first that needs to. A second one would deliver them
 * again, or take agents inside the first for dead.
 */

import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { bestEffort } from "@pi-subagents/core/internal/base";
import { namesIn } from "@pi-subagents/core/internal/files";
import { type Claim, claimDir, removeDeadOwners } from "@pi-subagents/runs";
import type { Ownership } from "./ports.ts";

export interface OwnershipDeps {
	/** Where those that have the open session say so. Undefined if no other process can open it. */
	dir: () => string | undefined;
	warn: (notice: string) => void;
}

export function createOwnership({ dir: current, warn }: OwnershipDeps): Ownership {
	let owned: string | undefined;
	/** Made, perhaps on a disk that then had no room for more. */
	let tried: string | undefined;
	let taking: Promise<boolean> | undefined;
	let isReleased = false;
	const release = () => {
		isReleased = true;
		if (owned !== undefined) abandoned().add(owned);
		if (tried !== undefined && owned === undefined) removeIfEmpty(tried);
		owned = undefined;
		clear();
	};
	const take = async (): Promise<boolean> => {
		const dir = owned === undefined ? current() : undefined;
		if (dir === undefined) return true;
		tried = dir;
		const claim = await claimIn(dir).catch(() => claimIn(dir)); // who has just left took the directory along
		if (!claim.isOurs) return isElsewhere(claim, warn);
		owned = dir;
		abandoned().delete(dir);
		if (isReleased) release(); // the session was closed meanwhile
		return true;
	};
	return {
		release,
		// A thousand agents that are launched at once need one answer.
		take() {
			taking ??= take().finally(() => {
				taking = undefined;
			});
			return taking;
		},
	};
}

/** Forgets pis that were killed while they had a session open. `dir` holds a directory for each session. */
export async function pruneOwners(dir: string, warn: (notice: string) => void): Promise<void> {
	for (const name of await namesIn(dir))
		await bestEffort("forgetting a pi that is gone", warn, () => removeDeadOwners(join(dir, name)));
}

/**
 * Sessions that this process has left without the disk letting it say so. Another pi would wait there for as long as this
 * one lives, so it is tried again with the next session; a reload loads this module again, hence the global.
 */
function abandoned(): Set<string> {
	const shared = globalThis as { [ABANDONED]?: Set<string> };
	shared[ABANDONED] ??= new Set();
	return shared[ABANDONED];
}

const ABANDONED = Symbol.for("pi-subagents:abandoned-sessions");

function clear(): void {
	for (const dir of abandoned()) {
		remove(dir);
		abandoned().delete(dir);
	}
}

async function claimIn(dir: string): Promise<Claim> {
	await mkdir(dir, { recursive: true, mode: 0o700 });
	return claimDir(dir);
}

/** Whether a pi on another machine is alive cannot be seen from here, and it must not silence us forever. */
function isElsewhere({ owner }: Claim & { isOurs: false }, warn: OwnershipDeps["warn"]): boolean {
	if (owner.host !== hostname()) return true;
	warn(
		`This session is also open in another pi (process ${owner.pid}), which reports on its agents. When that pi ends, this one takes over.`,
	);
	return false;
}

/** As long as we live, no file but ours counts, so all of them are ours to delete. */
function remove(dir: string): void {
	const isOwners = (name: string) => /^owner-\d+\.json(?:\..+\.tmp)?$/.test(name); // whole, or as far as there was room
	for (const name of existsSync(dir) ? readdirSync(dir).filter(isOwners) : []) rmSync(join(dir, name), { force: true });
	removeIfEmpty(dir);
}

/** A directory with content belongs to another pi. */
function removeIfEmpty(dir: string): void {
	try {
		rmdirSync(dir);
	} catch (error) {
		const code = error instanceof Error && "code" in error ? error.code : undefined;
		if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(String(code))) throw error;
	}
}
