/** A session that ten thousand agents were launched in, opened again. */
import { startToExit } from "../worlds/start.ts";
import type { Comparison } from "./comparison.ts";
import { forEach } from "./contenders.ts";

const RECORDS = 10_000;
const AT = Date.UTC(2027, 0, 1);
let session: string | undefined;

export const reopen: Comparison = {
	lines: [
		{
			name: "a session with 10,000 records, opened again",
			unit: "ms",
			floor: "pi alone",
			target: { ratio: 1.1 },
		},
	],
	work: forEach(({ extension }, who) => async () => {
		session ??= sessionText();
		return [await startToExit({ extensions: who === "floor" ? [] : [extension], session })];
	}),
};

/** As ours writes them, one entry for each end; the others do not read theirs back. */
function sessionText(): string {
	const timestamp = new Date(AT).toISOString();
	const header = { type: "session", version: 3, id: "0198c0de-0000-7000-8000-000000000000", timestamp, cwd: "/" };
	const entries = Array.from({ length: RECORDS }, (_, index) => ({
		type: "custom",
		id: idOf(index),
		parentId: index === 0 ? null : idOf(index - 1),
		timestamp,
		customType: "subagents:record",
		data: index % 2 === 0 ? launch(index) : settled(index - 1),
	}));
	return [header, ...entries].map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

const idOf = (index: number) => index.toString(16).padStart(8, "0");

function launch(index: number): object {
	const id = `agent-${index}`;
	return {
		...{ type: "launched", runId: id, agentId: id, run: 1, preset: "peer", description: "look around" },
		...{ task: "Look closely at this part. ".repeat(60), cwd: "/", runner: "session", isBackground: false },
		...{ resolvedModel: "fake/fake-1", startedAt: AT },
	};
}

function settled(index: number): object {
	return {
		...{ type: "settled", runId: `agent-${index}`, status: "completed", preview: "I saw it all. ".repeat(35) },
		...{ completedAt: AT + 1_000, durationMs: 1_000, turns: 3, toolUses: 5 },
		usage: { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0, cost: 0 },
	};
}
