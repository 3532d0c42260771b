/** The spec of a run as it is inside its own checkout. Pure. */
import { join, relative } from "node:path";
import { isWithin } from "../process/within.ts";
import type { Confinement, RunSpec } from "../runner.ts";
import type { Place } from "./place.ts";

export function confinedSpec<Spec extends RunSpec>(spec: Spec, place: Place): Spec {
	const { root, main } = place;
	const aliases = [main, mainAsGiven(spec, place)];
	const inside = (text: string) => pathsMoved(text, aliases, root);
	const { mode, text } = spec.systemPrompt ?? { mode: "append", text: "" };
	return {
		...spec,
		cwd: place.cwd,
		task: inside(spec.task),
		systemPrompt: { mode, text: [inside(text), noteFor(place)].filter((part) => part.trim() !== "").join("\n\n") },
		confinedTo: {
			root,
			origin: originOf({ cwd: main, confinedTo: spec.confinedTo }),
			watches: [...new Set([main, ...(spec.confinedTo?.watches ?? [])])],
		},
	};
}

/**
 * Where the files that a run works on came from: a checkout of its own is trusted as the one it was made from.
 *
 * @example
 * ```ts
 * const isTrusted = host.isProjectTrusted(originOf(spec));
 * ```
 */
export function originOf({ cwd, confinedTo }: { cwd: string; confinedTo?: Confinement | undefined }): string {
	return confinedTo && isWithin(cwd, confinedTo.root) ? join(confinedTo.origin, relative(confinedTo.root, cwd)) : cwd;
}

/** A link may lead there, and the task then speaks of the link. */
function mainAsGiven({ cwd }: RunSpec, { root, cwd: inside }: Place): string {
	const way = relative(root, inside);
	return way !== "" && cwd.endsWith(`/${way}`) ? cwd.slice(0, -way.length - 1) : cwd;
}

/** Only where the path is meant as a whole: not as the beginning of another name, nor as the end of another path. */
function pathsMoved(text: string, from: readonly string[], to: string): string {
	const paths = [...new Set(from)]
		.filter((path) => path.length > 1)
		.map((path) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
	if (paths.length === 0) return text;
	const letter = "[\\p{L}\\p{M}\\p{N}_]";
	const before = `(?:(?<!${letter}|[.\\-/~])|(?<=file://))`;
	const whole = new RegExp(`${before}(?:${paths.join("|")})(?!${letter}|-|\\.${letter})`, "gu");
	return text.replace(whole, () => to);
}

function noteFor({ root, main, branch, notes }: Place): string {
	return [
		`You work in a git worktree of your own: ${root}, a checkout of ${main} on branch ${branch}.`,
		`Read and write only there; file tools are refused elsewhere. Where a path below ${main} is mentioned, the same path below ${root} is meant.`,
		"Files that git ignores, such as installed dependencies, are not in it.",
		...notes,
		"You need not commit: when you end, everything you changed is committed to that branch, except files that git ignores, which are thrown away.",
	].join(" ");
}
