/** A child that asks instead of guessing, in each mode of real pi. */
import {
	assistantTexts,
	callTool,
	gatePis,
	isFullRun,
	runPrint,
	say,
	startRpc,
	startTui,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { untilAsked } from "../../support/keys.ts";
import { delegate, parentSays, scene, scoutSays, unfenced } from "../../support/scene.ts";

const rules = [
	parentSays(delegate(), ({ lastToolResults }) => say(`My scout reports: ${unfenced(lastToolResults[0]?.text)}`)),
	scoutSays(
		callTool("ask_main_session", { question: "Which colour?", context: "There are two doors." }),
		({ lastToolResults }) => say(`I was told: ${unfenced(lastToolResults[0]?.text)}`),
	),
];

describe.each(await gatePis())("pi $version", (pi) => {
	test("interactive: the user is asked, and the child continues with the answer", async () => {
		await using it = await scene(rules);
		await using tui = await startTui({ env: it.env, pi });
		tui.submit("Please delegate.");
		await untilAsked(tui, "asks: Which colour?");
		expect(tui.screen().join("\n")).toContain("There are two doors.");
		tui.submit("heliotrope");
		await tui.waitForText("I was told: Answer from the user: heliotrope");
	});

	if (isFullRun)
		test("interactive: a dismissed question leaves the decision to the child", async () => {
			await using it = await scene(rules);
			await using tui = await startTui({ env: it.env, pi });
			tui.submit("Please delegate.");
			await untilAsked(tui, "asks: Which colour?");
			await tui.waitForText("esc: it decides by itself");
			tui.press("escape");
			await tui.waitForText("I was told: The user read your question and dismissed it"); // not: nobody is there
		});

	test("rpc: the question is a dialog request of the client", async () => {
		await using it = await scene(rules);
		await using rpc = startRpc({ env: it.env, pi });
		await rpc.send({ type: "prompt", message: "Please delegate." });
		const request = await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "input");
		if (request.type !== "extension_ui_request") throw new Error("no dialog");
		rpc.answer({ type: "extension_ui_response", id: request.id, value: "heliotrope" });
		await rpc.waitFor((event) => event.type === "agent_settled");
		expect(assistantTexts(rpc.events).at(-1)).toContain("Answer from the user: heliotrope");
	});

	if (isFullRun)
		test("print: no one can answer, and the child learns that at once", async () => {
			await using it = await scene(rules);
			const { stdout, code } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect({ stdout, code }).toEqual({
				stdout: expect.stringContaining("I was told: No one can answer now."),
				code: 0,
			});
		});
});
