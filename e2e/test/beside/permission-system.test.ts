/** The permission system from npm: what it has to ask about an agent, it asks the user. */
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
import { type GuardedRunner, guardedScene } from "../../support/guarded.ts";
import { untilAsked } from "../../support/keys.ts";
import { permissionFiles, permissionSystem } from "../../support/npm-guards.ts";

const dir = await permissionSystem();
const hasTmux = requireTool("tmux");
const runners: GuardedRunner[] = ["session", "process", ...(isFullRun && hasTmux ? (["tmux"] as const) : [])];

const asking = (runner: GuardedRunner) =>
	guardedScene({
		runner,
		extensions: dir === undefined ? [] : [dir],
		agentFiles: permissionFiles({ "*": "allow", read: "ask" }),
	});

const CONTENT = "I got: The launch code is heliotrope.";

describe.skipIf(dir === undefined).each(await gatePis())("pi $version", (pi) => {
	describe.each(runners)("runner %s", (runner) => {
		test("interactive: an ask rule asks the user, who sees the agent and decides", async () => {
			await using it = await asking(runner);
			await using tui = await startTui({ env: it.env, pi });
			tui.submit("Please delegate.");
			await untilAsked(tui, "requested tool 'read'");
			expect(tui.screen().join("\n")).toMatch(/An extension in agent guarded \(\w+\) asks:/);
			tui.press("enter");
			await tui.waitForText(`My agent reports: ${CONTENT}`);
		});

		if (isFullRun)
			test("interactive: Escape refuses, and the agent learns that the user did", async () => {
				await using it = await asking(runner);
				await using tui = await startTui({ env: it.env, pi });
				tui.submit("Please delegate.");
				await untilAsked(tui, "requested tool 'read'");
				tui.press("escape");
				await tui.waitForText("My agent reports: I got:");
				expect(tui.screen().join("\n")).not.toContain("heliotrope");
			});

		if (isFullRun || runner === "session")
			test("rpc: the client decides", async () => {
				await using it = await asking(runner);
				await using rpc = startRpc({ env: it.env, pi });
				await rpc.send({ type: "prompt", message: "Please delegate." });
				const isAsked = (event: { type: string; method?: string }) =>
					event.type === "extension_ui_request" && event.method === "select";
				const request = await rpc.waitFor(isAsked);
				if (request.type !== "extension_ui_request" || request.method !== "select") throw new Error("no dialog");
				expect(request.title).toMatch(/^An extension in agent guarded \(\w+\) asks:\n/);
				rpc.answer({ type: "extension_ui_response", id: request.id, value: "Yes" });
				await rpc.waitFor((event) => event.type === "agent_settled");
				expect(assistantTexts(rpc.events).at(-1)).toContain(CONTENT);
			});

		test("print and JSON: an ask rule refuses at once, because no one can answer", async () => {
			await using it = await asking(runner);
			const print = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(print.stdout).toContain("My agent reports: I got:");
			expect(print.stdout).not.toContain("heliotrope");
			if (!isFullRun) return;
			const json = await runJson({ env: it.env, pi }, "Please delegate.");
			expect(assistantTexts(json.events).at(-1)).toContain("My agent reports: I got:");
			expect(assistantTexts(json.events).at(-1)).not.toContain("heliotrope");
		});
	});
});
