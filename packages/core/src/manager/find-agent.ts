/** An agent by what a person or a model calls it. Errors list the known ones. */

import { sanitize } from "@pi-subagents/progress";
import { AgentError, quoted } from "../base/error.ts";
import { nameKey, visibleName } from "../base/names.ts";
import type { AgentRecord } from "../model/record.ts";

/** More in an error would bury the message. */
const MAX_NAMED = 20;

/** An agent by its id, its name, or the beginning of only one id. Throws an error that lists the known ones. */
export function findAgent(agents: readonly AgentRecord[], wanted: string): AgentRecord {
	const key = nameKey(wanted);
	const exact = agents.find(({ id }) => id.toLowerCase() === key);
	// A name may have been reused; the latest is meant.
	const named = exact ?? agents.findLast(({ name }) => name !== undefined && nameKey(name) === key);
	const [only, ...others] = named || key === "" ? [named] : agents.filter(({ id }) => id.toLowerCase().startsWith(key));
	if (only && others.length === 0) return only;
	visibleName(wanted, "agent", "unknown_agent");
	const what = others.length > 0 ? `${quoted(wanted)} could be several agents` : `There is no agent ${quoted(wanted)}`;
	throw new AgentError("unknown_agent", `${what}. ${listed(agents)}`);
}

interface Candidates {
	is: (record: AgentRecord) => boolean;
	/** The error message if there is none, as a sentence. */
	none: string;
}

/** Without an id, the only agent that qualifies. */
export function findCandidate(
	agents: readonly AgentRecord[],
	wanted: string | undefined,
	{ is, none }: Candidates,
): AgentRecord {
	if (wanted !== undefined && wanted.trim() !== "") return findAgent(agents, wanted);
	const candidates = agents.filter(is);
	const [only, ...others] = candidates;
	if (!only) throw new AgentError("unknown_agent", none);
	if (others.length > 0)
		throw new AgentError("unknown_agent", `Several agents match; say which. ${listed(candidates)}`);
	return only;
}

function listed(agents: readonly AgentRecord[]): string {
	if (agents.length === 0) return "None has been launched.";
	const shown = agents.slice(-MAX_NAMED).map(({ id, name, type, status }) => {
		const called = name === undefined ? "" : ` "${sanitize(name)}"`;
		return `${id}${called} (${sanitize(type)}, ${status})`;
	});
	const older = agents.length > shown.length ? ` and ${agents.length - shown.length} older ones` : "";
	return `Known: ${shown.join(", ")}${older}.`;
}
