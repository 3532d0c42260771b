/** Nothing about results and stopped agents is silent: held results, quitting, --continue and /reload, in real pi. */
import {
	callTool,
	createGate,
	gatePis,
	hang,
	isFullRun,
	lastUserSays,
	say,
	startTui,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentDelegates, parentSays, scene, scoutReadsNotes, scoutSays } from "../../support/scene.ts";

const inBackground = () =>
	callTool("Agent", { subagent_type: "repo-scout", prompt: "Dig.", description: "dig", run_in_background: true });

describe.each(await gatePis())("pi $version", (pi) => {
	test("after an interrupt a line counts the results that are ready, and the key of the settings takes them now", async () => {
		const gate = createGate();
		await using it = await scene([parentSays(inBackground(), hang()), scoutSays(say("Found gold.", { gate }))], {
			agentFiles: { "subagents.json": JSON.stringify({ resultsKey: "alt+y" }) },
		});
		await using tui = await startTui({ env: it.env, pi }, { cols: 80, rows: 40 });
		tui.submit("Please delegate.");
		await tui.waitForText("agents: 1 running · quitting stops it");
		tui.press("escape");
		await tui.waitForText("Operation aborted");
		gate.open();
		await tui.waitForText("1 result ready – it arrives with your next message (alt+y: now)");
		tui.press("alt+y");
		await tui.waitForText("Found gold.");
	});

	if (isFullRun)
		test("/reload says that it interrupted agents, and earlier rows stay readable", async () => {
			await using it = await scene([parentDelegates, scoutReadsNotes]);
			await using tui = await startTui({ env: it.env, pi }, { cols: 80, rows: 40 });
			tui.submit("Please delegate.");
			await tui.waitForText("My scout reports:");
			const row = tui.screen().filter((line) => /subagent repo-scout|1 tool · /.test(line));
			tui.submit("/reload");
			await tui.waitForText("Reloaded keybindings");
			expect(tui.screen()).toEqual(expect.arrayContaining(row));
			expect(tui.screen().join("\n")).not.toContain('"preset"');
		});

	test("/reload with an agent running names the agent that it interrupted, and its row is as after --continue", async () => {
		await using it = await scene([parentSays(inBackground(), say("It is off.")), scoutSays(hang())]);
		const rowIn = (screen: readonly string[]) => screen.filter((line) => /^ .*repo-scout dig/.test(line));
		await using tui = await startTui({ env: it.env, pi }, { cols: 80, rows: 40 });
		tui.submit("Please delegate.");
		await tui.waitForText("It is off.");
		tui.submit("/reload");
		const reloaded = rowIn(await tui.waitForText("1 agent was interrupted by reload: repo-scout"));
		expect(reloaded).toEqual([" Agent repo-scout dig", expect.stringMatching(/^ ■ repo-scout dig {2}/)]);
		await tui.close();
		await using again = await startTui({ env: it.env, pi, args: ["--continue"] }, { cols: 80, rows: 40 });
		expect(rowIn(await again.waitForText("1 agent was interrupted by reload: repo-scout"))).toEqual(reloaded);
	});

	test("quitting says on the shell what it stopped, and --continue offers to resume it", async () => {
		await using it = await scene([
			parentSays(inBackground(), say("It is off.")),
			when(lastUserSays("You were interrupted because pi quit."), say("Found gold after all.")),
			scoutSays(hang()),
		]);
		await using tui = await startTui({ env: it.env, pi }, { cols: 80, rows: 40 });
		tui.submit("Please delegate.");
		await tui.waitForText("It is off.");
		tui.press("ctrl+d");
		await tui.waitForText(/pi-subagents: quitting stopped 1 agent: repo-scout \w+\./);
		await using again = await startTui({ env: it.env, pi, args: ["--continue"] }, { cols: 80, rows: 40 });
		await again.waitForText("1 agent was stopped when pi quit: repo-scout");
		again.press("alt+r");
		await again.waitForText("Found gold after all.");
	});
});
