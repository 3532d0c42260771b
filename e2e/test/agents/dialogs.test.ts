/** Dialogs of extensions inside agents, in each mode of real pi and in every runner. */
import {
	assistantTexts,
	gatePis,
	isFullRun,
	requireTool,
	runJson,
	runPrint,
	startRpc,
	startTui,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { blockSaying, type GuardedRunner, guardedScene } from "../../support/guarded.ts";

const hasTmux = requireTool("tmux");
/** In the gate, tmux differs from a process only in who starts it. */
const runners: GuardedRunner[] = ["session", "process", ...(isFullRun && hasTmux ? (["tmux"] as const) : [])];

const asksAll = `
	const { ui } = ctx;
	const chosen = await ui.select("Which way?", ["left", "right"]);
	const isSure = await ui.confirm("Allow?", "It reads the notes.");
	const typed = await ui.input("Why?", "a reason");
	${blockSaying("[ctx.mode, ctx.hasUI, chosen, isSure, typed]")}`;

describe.each(await gatePis())("pi $version", (pi) => {
	describe.each(runners)("runner %s", (runner) => {
		test("interactive: the user answers each dialog, and sees which agent it is about", async () => {
			await using it = await guardedScene({ runner, body: asksAll });
			await using tui = await startTui({ env: it.env, pi });
			tui.submit("Please delegate.");
			await tui.waitForText("Which way?");
			expect(tui.screen().join("\n")).toMatch(/An extension in agent guarded \(\w+\) asks:/);
			tui.press("down");
			tui.press("enter");
			await tui.waitForText("It reads the notes.");
			expect(tui.screen().join("\n")).toMatch(/→ No\s/); // Enter pressed too early allows nothing
			tui.press("down");
			tui.press("enter");
			await tui.waitForText("Why?");
			tui.submit("because");
			await tui.waitForText('My agent reports: I got: ["rpc",true,"right",true,"because"]');
		});

		if (isFullRun || runner !== "session")
			test("rpc: the client answers, and the title names the agent", async () => {
				await using it = await guardedScene({ runner, body: asksAll });
				await using rpc = startRpc({ env: it.env, pi });
				await rpc.send({ type: "prompt", message: "Please delegate." });
				const replies = { select: { value: "right" }, confirm: { confirmed: true }, input: { value: "because" } };
				for (const [method, reply] of Object.entries(replies)) {
					const request = await rpc.waitFor(
						(event) => event.type === "extension_ui_request" && event.method === method,
					);
					if (request.type !== "extension_ui_request" || !("title" in request)) throw new Error("no dialog");
					expect(request.title).toMatch(/^An extension in agent guarded \(\w+\) asks:\n/);
					rpc.answer({ type: "extension_ui_response", id: request.id, ...reply });
				}
				await rpc.waitFor((event) => event.type === "agent_settled");
				expect(assistantTexts(rpc.events).at(-1)).toContain('["rpc",true,"right",true,"because"]');
			});

		test("print and JSON: no one can answer, the extension knows it, and nothing waits", async () => {
			await using it = await guardedScene({ runner, body: asksAll });
			const print = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(print.stdout).toContain('["rpc",false,null,false,null]');
			if (!isFullRun) return;
			const json = await runJson({ env: it.env, pi }, "Please delegate.");
			expect(assistantTexts(json.events).at(-1)).toContain('["rpc",false,null,false,null]');
		});
	});
});
