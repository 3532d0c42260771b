/** Dialogs of extensions inside agents, in each mode of real pi and in every runner. */
import {
	assistantTexts,
	createGate,
	gatePis,
	isFullRun,
	type Key,
	requireTool,
	runJson,
	runPrint,
	startRpc,
	startTui,
	type Terminal,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { blockSaying, type GuardedRunner, guardedScene, isGuarded, readsUnderGuard } from "../../support/guarded.ts";
import { enter, openMenu, untilAsked } from "../../support/keys.ts";

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
			await untilAsked(tui, "Which way?");
			expect(tui.screen().join("\n")).toMatch(/An extension in agent guarded \(\w+\) asks:/);
			tui.press("down");
			tui.press("enter");
			await untilAsked(tui, "It reads the notes.");
			expect(tui.screen().join("\n")).toMatch(/→ No\s/); // Enter pressed too early allows nothing
			tui.press("down");
			tui.press("enter");
			await untilAsked(tui, "Why?");
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
		await untilAsked(tui, "Which way?");
		tui.press("down");
		tui.press("enter");
		await untilAsked(tui, "Theirs?");
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
		await untilAsked(tui, "Which way?");
		tui.press("down");
		tui.press("enter");
		await tui.waitForText('My agent reports: I got: "right"');
		expect(tui.screen().join("\n")).toContain("half a messa");
	});

	/** Where the user is when the dialog opens, and the keys with which they leave. */
	const places: { place: string; go: (tui: Terminal) => Promise<void>; keys: Key[] }[] = [
		{ place: "at an empty editor", go: async () => undefined, keys: [] },
		{ place: "between two steps of a menu", go: openMenu, keys: ["enter"] },
		{
			place: "in the conversation of an agent",
			async go(tui) {
				tui.press("alt+a");
				await tui.waitForText(/→ \S guarded/);
				tui.press("enter");
				await tui.waitForText("esc close");
			},
			keys: ["escape"],
		},
	];

	test.each(places)("someone $place does not answer with the keys of the next moment", async ({ go, keys }) => {
		// Keys at the pace of a person, from the moment at which pi says that the dialog is open.
		const fingers = `export default function (pi) {
			pi.on("ui_prompt_start", ({ title }, { ui }) => {
				if (!String(title).includes("Which way?")) return;
				for (const [at, key] of [[50, "\\r"], [300, "\\u001b"], [600, "1"], [900, "\\r"], [1700, "\\u001b"], [2500, "\\r"]])
					setTimeout(() => process.stdin.emit("data", key), at);
				setTimeout(() => ui.notify("No more keys."), 2600);
			});
		}`;
		const gate = createGate();
		await using it = await guardedScene({
			runner: "session",
			body: asksOnce,
			rules: readsUnderGuard({ gate }),
			agentFiles: { "extensions/fingers.ts": fingers },
		});
		await using tui = await startTui({ env: it.env, pi }, { rows: 40 });
		tui.submit("Please delegate.");
		await it.server.nextRequest(isGuarded);
		await go(tui);
		gate.open();
		if (keys.length > 0) {
			await tui.waitForText(/1 waiting for you|close this view to answer/);
			tui.press(...keys);
		}
		await tui.waitForText("No more keys.");
		await untilAsked(tui, "Which way?");
		expect(tui.screen().join("\n")).toContain("→ left");
		tui.press("down");
		tui.press("enter");
		await tui.waitFor((lines) => !lines.join("\n").includes("Which way?"), {}, "A screen without the dialog");
		if (keys.length > 0) tui.press("escape", "escape");
		await tui.waitForText('My agent reports: I got: "right"');
	});

	test.each([
		{ list: "models", open: (tui: Terminal) => tui.press("ctrl+l"), shown: "Model Name:" },
		{ list: "settings", open: (tui: Terminal) => enter(tui, "/settings"), shown: "Auto-compact" },
	])(
		"pi's own list of $list stays open until the user closes it, and then the dialog opens",
		async ({ open, shown }) => {
			const gate = createGate();
			await using it = await guardedScene({ runner: "session", body: asksOnce, rules: readsUnderGuard({ gate }) });
			await using tui = await startTui({ env: it.env, pi }, { rows: 50 });
			tui.submit("Please delegate.");
			await it.server.nextRequest(isGuarded);
			open(tui);
			await tui.waitForText(shown);
			gate.open();
			await tui.waitForText("asks you something.");
			expect(tui.screen().join("\n")).toContain(shown);
			tui.press("escape");
			await untilAsked(tui, "Which way?");
			tui.press("down");
			tui.press("enter");
			await tui.waitForText('My agent reports: I got: "right"');
		},
	);

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
