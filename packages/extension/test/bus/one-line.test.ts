/** One event is described once, and everything that shows it shows that line. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChildEvent, describe } from "@pi-subagents/progress";
import { RUN_FILES } from "@pi-subagents/runs";
import { AgentWidget } from "@pi-subagents/widget";
import { expect, onTestFinished, test } from "vitest";
import { newFile, open } from "../fixtures/fake-session.ts";

/** A tool call that counts how often its path is read. Files are written without the path: it is not enumerable. */
function countedCall(): { event: ChildEvent; reads: () => number } {
	let reads = 0;
	const args = Object.defineProperty({}, "path", {
		get() {
			reads++;
			return "a.ts";
		},
	});
	return { event: { type: "tool_call", callId: "1", tool: "read", args }, reads: () => reads };
}

test("an event is described once for the row, the tree, the transcript and the bus", async () => {
	const alone = countedCall();
	expect(describe(undefined, alone.event).line).toBe("Reading a.ts");
	expect(alone.reads()).toBeGreaterThan(0);

	const runsDir = await mkdtemp(join(tmpdir(), "one-line-"));
	onTestFinished(() => rm(runsDir, { recursive: true }));
	const it = await open(newFile(), { runsDir });
	const { store } = it.manager;
	const { id } = it.launch();
	const rows: (string | undefined)[] = [];
	store.follow(id, ({ line }) => rows.push(line)); // as the feed of a row does
	const widget = new AgentWidget(store, { requestRender: () => undefined, clock: it.clock });
	const lines: (string | undefined)[] = [];
	store.subscribe(({ line }) => lines.push(line));

	const { event, reads } = countedCall();
	it.run(id)?.emit(event);
	it.clock.advance(1_000);
	await it.written();
	const transcript = await readFile(join(store.record(id)?.artifacts ?? "", RUN_FILES.transcript), "utf8");
	expect(lines).toEqual(["Reading a.ts"]);
	expect(transcript).toBe("Reading a.ts\n");
	expect(rows).toEqual(["Reading a.ts"]);
	expect(widget.render(80).join("\n")).toContain("Reading a.ts");
	expect(reads()).toBe(alone.reads());
	widget.dispose();
});
