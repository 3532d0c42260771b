/**
 * Reads files of Claude Code and OpenCode as if they were ours: rewrites their frontmatter into our words, entry by
 * entry, and notes what became of each. Where the meaning cannot be kept, it takes access away and says so; it never
 * gives more than the file did.
 */
import { readClaude } from "./import-claude.ts";
import { readOpencode } from "./import-opencode.ts";
import { Rewrite, type Translation } from "./import-rewrite.ts";
import type { Entry } from "./plain.ts";
import type { Flavour } from "./preset.ts";

/** Frontmatter in our words. Files that are ours already pass through. */
export function translate(flavour: Flavour, entries: readonly Entry[]): Translation {
	switch (flavour) {
		case "subagents":
		case "agents":
			return { entries, faults: [], notes: [] };
		case "claude":
			return readClaude(new Rewrite(entries));
		case "opencode":
			return readOpencode(new Rewrite(entries));
		default:
			throw new Error(`unknown flavour: ${flavour satisfies never}`);
	}
}
