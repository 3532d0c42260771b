/**
 * Translates the frontmatter of other programs into our fields, entry by entry, and notes each change. Where the meaning
 * cannot be kept, it removes access and reports that; it never grants more than the file did.
 */

import type { Entry } from "../frontmatter/simple-frontmatter.ts";
import type { Flavour } from "../model/preset.ts";
import { readClaude } from "./claude.ts";
import { readOpencode } from "./opencode.ts";
import { Rewrite, type Translation } from "./rewrite.ts";
import { isForeign, readShared } from "./shared.ts";
import { readOwnTools } from "./tools.ts";

/** Frontmatter under our field names. Files written for pi pass through. */
export function translate(flavour: Flavour, entries: readonly Entry[]): Translation {
	const isOwn = flavour === "subagents" || flavour === "agents";
	if (isOwn && !entries.some(isForeign)) return { entries, faults: [], notes: [], isRefused: false };
	const file = new Rewrite(entries);
	switch (flavour) {
		case "subagents":
		case "agents":
			readOwnTools(file);
			break;
		case "claude":
			readClaude(file);
			break;
		case "opencode":
			readOpencode(file);
			break;
		default:
			throw new Error(`unknown flavour: ${flavour satisfies never}`);
	}
	readShared(file, entries);
	return file.finish();
}

/** Whether the file was written for a program other than pi. */
export function isImported(flavour: Flavour): boolean {
	return flavour === "claude" || flavour === "opencode";
}
