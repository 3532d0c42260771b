/** Dialogs of extensions inside agents, in each mode of real pi and in every runner. */
import {
	assistantTexts,
	createGate,
	gatePis,
	isFullRun,
	requireTool,
	runJson,
	runPrint,
	startRpc,
	startTui,
	until,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { blockSaying, type GuardedRunner, guardedScene, isGuarded, readsUnderGuard } from "../../support/guarded.ts";

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

	const asksOnce = blockSaying('await ctx.ui.select("Which way?", ["left", "right"]) ?? null');

	test("a dialog of the session's own extension waits while an agent's is open, and neither is lost", async () => {
		const beside = `export default function (pi) {
			let hasAsked = false;
			pi.on("ui_prompt_start", (_event, ctx) => {
				if (hasAsked) return;
				hasAsked = true;
				setTimeout(async () => ctx.ui.notify("Theirs got " + (await ctx.ui.select("Theirs?", ["blue", "red"]))), 0);
			});
		}`;
		const agentFiles = { "extensions/beside.ts": beside };
		await using it = await guardedScene({ runner: "session", body: asksOnce, agentFiles });
		await using tui = await startTui({ env: it.env, pi });
		tui.submit("Please delegate.");
		await tui.waitForText("Which way?");
		tui.press("down");
		tui.press("enter");
		await tui.waitForText("Theirs?");
		tui.press("enter");
		await tui.waitForText("Theirs got blue");
		await tui.waitForText('My agent reports: I got: "right"');
	});

	test("a user who is writing a message keeps it, and is asked when they pause", async () => {
		const gate = createGate();
		const rules = readsUnderGuard({ gate });
		await using it = await guardedScene({ runner: "session", body: asksOnce, rules });
		await using tui = await startTui({ env: it.env, pi });
		tui.submit("Please delegate.");
		await it.server.nextRequest(isGuarded);
		tui.type("half a messa");
		await tui.waitForText("half a messa");
		gate.open();
		await tui.waitForText("Which way?");
		// A key that is pressed now may have been meant for the message, so the first ones are not heard.
		await until("the dialog hears keys", () => {
			tui.press("down");
			return tui.screen().join("\n").includes("→ right") || undefined;
		});
		tui.press("enter");
		await tui.waitForText('My agent reports: I got: "right"');
		expect(tui.screen().join("\n")).toContain("half a messa");
	});

	describe.each(isFullRun ? runners : (["session"] as const))("runner %s", (runner) => {
		test("a dialog leaves the screen when its agent has used up its time", async () => {
			await using it = await guardedScene({ runner, body: asksOnce, fields: "timeout: 8s\n" });
			await using tui = await startTui({ env: it.env, pi });
			tui.submit("Please delegate.");
			await tui.waitForText("Which way?");
			await tui.waitForText("it ran longer than 8s");
			await tui.waitFor((lines) => !lines.join("\n").includes("Which way?"), {}, "A screen without the dialog");
		});

		test("rpc: a new session withdraws it, and an answer that comes late harms nothing", async () => {
			await using it = await guardedScene({ runner, body: asksOnce });
			await using rpc = startRpc({ env: it.env, pi });
			await rpc.send({ type: "prompt", message: "Please delegate." });
			const request = await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "select");
			await rpc.send({ type: "new_session" });
			if (request.type !== "extension_ui_request") throw new Error("no dialog");
			rpc.answer({ type: "extension_ui_response", id: request.id, value: "left" });
			expect(assistantTexts(await rpc.prompt("Just say hello."))).toEqual(["Hello."]);
		});

		test("pi ends at once while a dialog is open, and its agent with it", async () => {
			await using it = await guardedScene({ runner, body: asksOnce });
			await using rpc = startRpc({ env: it.env, pi });
			await rpc.send({ type: "prompt", message: "Please delegate." });
			await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "select");
			expect(await rpc.close()).toMatchObject({ code: 0 });
		});
	});
});
