/** What a person sees and can do while a child works. */
import {
	callTool,
	createGate,
	gatePis,
	hang,
	isFullRun,
	once,
	rateLimited,
	runJson,
	runPrint,
	say,
	startRpc,
	startTui,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { delegate, parentSays, scene, scoutSays, unfenced } from "../../support/scene.ts";

describe.each(await gatePis())("pi $version", (pi) => {
	test("the screen shows what the child does now, then its end", async () => {
		const gate = createGate();
		await using it = await scene([
			parentSays(delegate(), say("Thank you.")),
			scoutSays(callTool("read", { path: "notes.txt" }), say("Found: heliotrope.", { gate })),
		]);
		await using tui = await startTui({ env: it.env, pi });
		tui.submit("Please delegate.");
		await tui.waitForText("Finished reading notes.txt");
		expect(tui.screen().join("\n")).toContain("Reading notes.txt");
		gate.open();
		await tui.waitForText("Thank you.");
		expect(tui.screen().join("\n")).toContain("Found: heliotrope.");
		await tui.waitFor((lines) => !lines.join("\n").includes("Finished reading"), {}, "A screen without what is over");
	});

	test("Escape stops the child: its request ends and the row says who stopped it", async () => {
		await using it = await scene([parentSays(delegate()), scoutSays(callTool("read", { path: "notes.txt" }), hang())]);
		await using tui = await startTui({ env: it.env, pi });
		tui.submit("Please delegate.");
		const childRequest = ({ systemPrompt, turn }: { systemPrompt: string; turn: number }) =>
			systemPrompt.includes("You are the repo scout") && turn === 2;
		await it.server.nextRequest(childRequest);
		await tui.waitForText("Finished reading notes.txt");
		tui.press("escape");
		await tui.waitForText("Stopped by you");
		await it.server.nextRequest((request) => childRequest(request) && request.aborted);
	});

	test("an abort over rpc stops it too, and pi goes on", async () => {
		await using it = await scene([
			parentSays(delegate()),
			scoutSays(hang()),
			({ lastUserText }) => (lastUserText.includes("still there") ? say("Yes.") : undefined),
		]);
		await using rpc = startRpc({ env: it.env, pi });
		await rpc.send({ type: "prompt", message: "Please delegate." });
		await it.server.nextRequest(({ systemPrompt }) => systemPrompt.includes("You are the repo scout"));
		await rpc.send({ type: "abort" });
		await rpc.waitFor((event) => event.type === "agent_settled");
		await it.server.nextRequest(({ aborted }) => aborted);
		const events = await rpc.prompt("Are you still there?");
		expect(JSON.stringify(events)).toContain("Yes.");
	});

	if (isFullRun)
		test("several calls in one message run side by side", async () => {
			const both = createGate();
			const seen = new Set<string>();
			await using it = await scene([
				parentSays(
					{
						toolCalls: [
							{ name: "subagent", args: { preset: "repo-scout", task: "Task one" } },
							{ name: "subagent", args: { preset: "repo-scout", task: "Task two" } },
						],
					},
					({ lastToolResults }) => say(lastToolResults.map(({ text }) => unfenced(text).split("\n")[0]).join(" and ")),
				),
				// Neither is answered before both have asked.
				scoutSays(({ lastUserText }) => {
					seen.add(lastUserText);
					if (seen.size === 2) both.open();
					return say(`Done: ${lastUserText}`, { gate: both });
				}),
			]);
			const { events } = await runJson({ env: it.env, pi }, "Please delegate.");
			expect(JSON.stringify(events.at(-2))).toContain("Done: Task one and Done: Task two");
		});

	test("of many calls those that are done say so while another goes on, and the parent hears of all", async () => {
		const gate = createGate();
		const tasks = ["one", "two", "three", "four", "five", "six"].map((name) => `Task ${name}.`);
		await using it = await scene([
			parentSays(
				{ toolCalls: tasks.map((task) => ({ name: "subagent", args: { preset: "repo-scout", task } })) },
				({ lastToolResults }) =>
					say(`Heard of ${lastToolResults.filter(({ text }) => text.includes("Done:")).length}.`),
			),
			scoutSays(({ lastUserText }) =>
				lastUserText.includes("Task three.") ? say("Done: the last.", { gate }) : say(`Done: ${lastUserText}`),
			),
		]);
		await using tui = await startTui({ env: it.env, pi }, { cols: 100, rows: 80 });
		tui.submit("Please delegate.");
		const done = (lines: readonly string[]) => lines.filter((line) => line.includes("Done: ")).length;
		await tui.waitFor((lines) => done(lines) === 5, {}, "A screen with the five that are done");
		gate.open();
		await tui.waitForText("Heard of 6.");
		expect(done(tui.screen())).toBe(6);
	});
});

test("print mode waits while a provider wants a pause, instead of ending with nothing", async () => {
	await using it = await scene(
		[
			parentSays(delegate(), ({ lastToolResults }) => say(`Heard: ${unfenced(lastToolResults[0]?.text)}`)),
			once(scoutSays(rateLimited({ retryAfterSeconds: 1 }))),
			scoutSays(say("Found: heliotrope.")),
		],
		{ settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 1 } } },
	);
	const { stdout, code } = await runPrint({ env: it.env }, "Please delegate.");
	expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("Heard: Found: heliotrope.") });
});

if (isFullRun)
	test("what a child says cannot reach the terminal as control sequences", async () => {
		const hostile = "before \x1b]52;c;aGVsbG8=\x07\x1b[2J\x1b]0;owned\x07\x9b31m\u202eafter";
		await using it = await scene([
			parentSays(delegate(`look ${hostile}`), say("Thank you.")),
			scoutSays({ ...callTool("read", { path: `notes.txt${hostile}` }), text: hostile }, say(`Result: ${hostile}`)),
		]);
		await using tui = await startTui({ env: it.env });
		tui.submit("Please delegate.");
		await tui.waitForText("Thank you.");
		expect(tui.raw).not.toMatch(/\x1b\]52|owned\x07|\x9b31m|\u202e/);
		expect(tui.screen().join("\n")).toContain("Result: before after");
	});
