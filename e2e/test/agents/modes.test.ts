/** The thin slice through every layer, in each mode of real pi: delegate, watch, get the answer. */
import {
	assistantTexts,
	availablePis,
	type PiEvent,
	runJson,
	runPrint,
	startRpc,
	startTui,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentDelegates, scene, scoutReadsNotes } from "../../support/scene.ts";

const rules = [parentDelegates, scoutReadsNotes];
const answer =
	/My scout reports: The notes say: The launch code is heliotrope\.[\s\S]*\[agent [0-9a-z]{8} \(repo-scout\): Completed in /;

/** The texts of the live updates of the tool row, in order. */
function updates(events: readonly PiEvent[]): string[] {
	return events.flatMap((event) =>
		event.type === "tool_execution_update" ? [JSON.stringify(event.partialResult.content)] : [],
	);
}

describe.each(await availablePis())("pi $version", (pi) => {
	test("print: the answer of the child is in the answer of the parent", async () => {
		await using it = await scene(rules);
		const { stdout, stderr, code } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect({ stdout, stderr, code }).toEqual({ stdout: expect.stringMatching(answer), stderr: "", code: 0 });
	});

	test("json: progress comes as human text while the child works", async () => {
		await using it = await scene(rules);
		const { events, code } = await runJson({ env: it.env, pi }, "Please delegate.");
		expect(code).toBe(0);
		expect(assistantTexts(events).at(-1)).toMatch(answer);
		const text = updates(events).join("\n");
		expect(text).toContain("Reading notes.txt");
		expect(text).not.toMatch(/tool_call|tool_result|callId/);
	});

	test("rpc: the same, and the session goes on", async () => {
		await using it = await scene(rules);
		await using rpc = startRpc({ env: it.env, pi });
		const first = await rpc.prompt("Please delegate.");
		expect(assistantTexts(first).at(-1)).toMatch(answer);
		expect(updates(first).join("\n")).toContain("Reading notes.txt");
		expect(assistantTexts(await rpc.prompt("Please delegate again.")).at(-1)).toMatch(answer);
	});

	test("interactive: the screen shows who works on what, what it does and what it found", async () => {
		await using it = await scene(rules);
		await using tui = await startTui({ env: it.env, pi }, { cols: 100, rows: 40 });
		tui.submit("Please delegate.");
		await tui.waitForText("My scout reports");
		const shown = tui.scrollback();
		expect(shown).toContain("subagent repo-scout Find the launch code.");
		expect(shown).toContain("The notes say: The launch code is heliotrope.");
		expect(shown).toMatch(/1 tool · .* tokens · /);
		expect(shown).not.toMatch(/tool_call|tool_result|callId/);
	});
});
