/**
 * Which of a repository's own git settings count: all of them in a project with the user's stored yes; elsewhere those
 * that they allowed when they were asked, once in a session.
 */

import type { Confinement } from "@pi-subagents/core";
import { isWithin } from "@pi-subagents/core/internal/files";
import { sanitize } from "@pi-subagents/progress";
import { type Allows, allowedAt, checkWorktree, markOf, NeedsOwnSettings } from "@pi-subagents/worktree";
import type { LaunchEnvironment, WorktreeRequest } from "./ports.ts";

export interface GitTrust {
	allows: Allows;
	/** Throws for a directory in which no agent can have a worktree. Asks the user where only their yes is missing. */
	check(asked: WorktreeRequest): Promise<void>;
}

/** Asks the user for a yes. Undefined if no one can be asked. */
export type Confirm = (title: string, question: string) => Promise<boolean> | undefined;

/** A repository can need filters and, to fetch what it lacks, more: that is two questions at most. */
const MAX_QUESTIONS = 2;

export function createGitTrust({ storedTrust }: Pick<LaunchEnvironment, "storedTrust">, confirm: Confirm): GitTrust {
	const allowed = new Map<string, string[]>();
	const answers = new Map<string, Promise<boolean>>();
	const allows: Allows = (main) => (storedTrust(main) === "yes" ? "*" : (allowed.get(main) ?? []));

	const ask = async (main: string, { settings }: NeedsOwnSettings): Promise<boolean> => {
		if (storedTrust(main) === "no") return false;
		const marks = settings.map(markOf);
		const key = [main, ...marks].join(" ");
		const answer = answers.get(key) ?? confirm(TITLE, questionFor(main, settings));
		if (!answer) return false;
		answers.set(key, answer); // several agents may be launched at once
		if (!(await answer)) return false;
		allowed.set(main, [...new Set([...(allowed.get(main) ?? []), ...marks])]);
		return true;
	};

	return {
		allows,
		async check({ cwd, base, confinedTo, mayAsk }) {
			for (let questions = 0; ; questions++) {
				try {
					return await checkWorktree(cwd, { base, allows: (main) => allowedAt(main, confinedTo, allows) });
				} catch (error) {
					if (!(error instanceof NeedsOwnSettings) || !mayAsk || questions === MAX_QUESTIONS) throw error;
					const main = askedPath(error.main, confinedTo);
					if (main === undefined || !(await ask(main, error))) throw error;
				}
			}
		},
	};
}

/** The user is not asked about a repository that an agent made. */
function askedPath(main: string, confinedTo: Confinement | undefined): string | undefined {
	if (!confinedTo || !isWithin(main, confinedTo.root)) return main;
	return main === confinedTo.root ? confinedTo.origin : undefined;
}

const TITLE = "Let git run what this repository asks for?";

/** More would push the question off the screen. */
const MAX_LISTED = 10;
const VALUE_CHARACTERS = 200;

function questionFor(main: string, settings: NeedsOwnSettings["settings"]): string {
	const lines = settings
		.slice(0, MAX_LISTED)
		.map(({ name, value }) => `${sanitize(name)} = ${sanitize(value).slice(0, VALUE_CHARACTERS)}`);
	const more = settings.length - MAX_LISTED;
	return [
		`An agent is to have a worktree of ${sanitize(main)}. Its files need these settings, which came with the repository and make git run programs or contact servers:`,
		...lines,
		...(more > 0 ? [`and ${more} more`] : []),
		"Yes counts for these settings until pi ends. /trust stores a yes for the whole project.",
	].join("\n");
}
