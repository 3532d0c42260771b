/**
 * The program that a child runs inside: a launcher of the user's settings, with the places of this run filled in. Pure.
 * What cannot be had as asked is an error, because without the program the child could do more than it should.
 */
import { homedir } from "node:os";
import { dirname } from "node:path";
import type { RunSpec } from "@pi-subagents/core";
import { AgentError } from "@pi-subagents/core";
import { quoted } from "@pi-subagents/core/internal/base";

/** By name. */
export type Launchers = Readonly<Record<string, OuterProgram>>;

interface OuterProgram {
	/** The program with its arguments; what runs inside follows. */
	command: readonly string[];
	/** Added to the environment. */
	env?: Readonly<Record<string, string>>;
}

interface Surroundings {
	launchers?: () => Launchers;
	agentDir: string;
	runDir: string;
}

/** A name in braces. `${…}` belongs to a shell. */
const PLACEHOLDER = /(?<!\$)\{(\w+)\}/g;

/** Undefined if the spec names no launcher. Throws if it names one that is not there or not understood. */
export function outerProgram(
	spec: Pick<RunSpec, "launcher" | "cwd">,
	{ launchers, agentDir, runDir }: Surroundings,
): OuterProgram | undefined {
	const { launcher: name, cwd } = spec;
	if (name === undefined) return undefined;
	const known = launchers?.() ?? {};
	const found = Object.hasOwn(known, name) ? known[name] : undefined;
	if (!found || found.command.length === 0)
		throw new AgentError("bad_request", `The launcher ${quoted(name)} is not in your settings (\`launchers\`).`);
	const places = new Map(Object.entries({ cwd, runDir, runsDir: dirname(runDir), agentDir, home: homedir() }));
	const fill = (word: string) =>
		word.replace(PLACEHOLDER, (all, place: string) => {
			const path = places.get(place);
			if (path !== undefined) return path;
			const others = [...places.keys()].map((each) => `{${each}}`).join(", ");
			throw new AgentError("bad_request", `The launcher ${quoted(name)} says ${quoted(all)}; there is ${others}.`);
		});
	return { ...found, command: found.command.map(fill) };
}
