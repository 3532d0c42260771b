/**
 * The agents that earlier sessions of a directory remember, from the newest session files. Only reads: what happens in
 * another process is not touched, and a run without a recorded end is not taken for dead.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, type AgentRecord, reduce } from "@pi-subagents/core";
import { isMissing } from "@pi-subagents/core/internal/base";
import { readPlain } from "@pi-subagents/core/internal/files";
import { readRuns } from "../journal/journal.ts";
import { parseSessionLines } from "../session/session-entry.ts";
import { eventsOf, recordedEndOf, withOwnFiles } from "./run-ends.ts";

export interface EarlierSession {
	id: string;
	/** As pi wrote it. */
	startedAt: string;
	agents: AgentRecord[];
}

interface EarlierOptions {
	/** Where pi keeps the sessions; nothing where it keeps none. */
	sessionDir: string | undefined;
	/** The file of the session that is open. */
	current: string | undefined;
	cwd: string;
	/** pi's own directory, which proves results. */
	agentDir?: string;
}

/** People look for recent agents, and reading years of sessions would block the process. */
const MAX_FILES = 50;
const MAX_BYTES = 64 * 1024 * 1024;

/** Newest first, without sessions that launched no agent. */
export async function earlierSessions({
	sessionDir,
	current,
	cwd,
	agentDir,
}: EarlierOptions): Promise<EarlierSession[]> {
	if (!sessionDir) return [];
	const names = (await namesOfFiles(sessionDir)).filter((name) => join(sessionDir, name) !== current);
	const sessions: EarlierSession[] = [];
	let left = MAX_BYTES;
	for (const name of names.slice(0, MAX_FILES)) {
		const text = await readAtMost(join(sessionDir, name), left);
		left -= text.length;
		const header = headerOf(text);
		if (header?.cwd !== cwd) continue;
		const agents = await agentsIn(text, agentDir);
		if (agents.length > 0) sessions.push({ id: header.id, startedAt: header.timestamp, agents });
	}
	return sessions;
}

/** pi names them by their time. */
async function namesOfFiles(dir: string): Promise<string[]> {
	try {
		const entries = await readdir(dir, { withFileTypes: true });
		const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"));
		return files
			.map(({ name }) => name)
			.sort()
			.reverse();
	} catch (error) {
		if (isMissing(error)) return [];
		throw error;
	}
}

/** Nothing of a file that is larger, or that cannot be read: the others still say something. */
async function readAtMost(path: string, most: number): Promise<string> {
	try {
		return (await readPlain(path, most))?.toString("utf8") ?? "";
	} catch (error) {
		if (error instanceof Error && "code" in error) return ""; // too large, replaced, or not ours to read
		throw error;
	}
}

function headerOf(text: string): { id: string; timestamp: string; cwd: string } | undefined {
	const [first] = parseSessionLines(text.slice(0, Math.max(0, text.indexOf("\n"))));
	const { id, type, timestamp, cwd } = { timestamp: undefined, cwd: undefined, ...first } as Record<string, unknown>;
	const isHeader = type === "session" && typeof id === "string";
	return isHeader && typeof timestamp === "string" && typeof cwd === "string" ? { id, timestamp, cwd } : undefined;
}

/** Sessions are long and few of their lines are about agents: the others need not be parsed. */
async function agentsIn(text: string, agentDir: string | undefined): Promise<AgentRecord[]> {
	const lines = text.split("\n").filter((line) => line.includes("subagents:record") || line.includes("subagents:bg-"));
	const runs = [...readRuns(parseSessionLines(lines.join("\n"))).values()].map(withOwnFiles);
	const events = new Map<string, AgentEvent[]>();
	for (const run of runs) {
		const { agentId } = run.launch;
		events.set(agentId, [...(events.get(agentId) ?? []), ...eventsOf(run, 0, await recordedEndOf(run, agentDir))]);
	}
	return [...events.values()].flatMap((each) => each.reduce<AgentRecord | undefined>(reduce, undefined) ?? []);
}
