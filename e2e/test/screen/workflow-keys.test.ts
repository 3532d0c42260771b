/** The keys of the viewer for a workflow and its agents: pause, retry, skip and stop. */
import { hang, startTui, until } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { enter } from "../../support/keys.ts";
import { scene, scoutSays } from "../../support/scene.ts";
import { journal, offering, script } from "../../support/workflows.ts";

test("a workflow is paused and stopped in its viewer, and a call is made again and skipped in that of its agent", async () => {
	const call = (label: string) => `await agent("Do ${label}", { agentType: "repo-scout", label: "${label}" })`;
	await using it = await scene([scoutSays(hang())], {
		agentFiles: { ...offering(), "workflows/keys.js": script(`return [${call("one")}, ${call("two")}]`, "keys") },
	});
	const asked = (label: string) => it.server.requests.filter(({ lastUserText }) => lastUserText === `Do ${label}`);
	await using tui = await startTui({ env: it.env }, { cols: 100, rows: 40 });
	enter(tui, "/workflow run keys");
	await it.server.nextRequest(({ lastUserText }) => lastUserText === "Do one");
	tui.press("alt+a");
	await tui.waitForText(/Agents › This session[\s\S]*→ \S workflow .*\n.*repo-scout/);
	tui.press("enter");
	await tui.waitForText(/╭─ workflow \w+ ─/);
	tui.type("p");
	await tui.waitForText("It launches no more agents");
	tui.type("p");
	await tui.waitForText("It launches agents again");

	tui.press("right"); // to its agent
	await tui.waitForText(/╭─ repo-scout \w+ ─/);
	tui.type("r");
	await tui.waitForText("Runs again: one");
	await until("the call is made again", async () => (asked("one").length === 2 ? true : undefined));
	const { agentId = "" } = (await journal(it.env)).findLast(({ type }) => type === "launched") ?? {};
	tui.press("left"); // to the new one: those that run come first
	await tui.waitForText(new RegExp(`╭─ repo-scout ${agentId} ─`));
	tui.type("S");
	await tui.waitForText("Skipped: one");
	await it.server.nextRequest(({ lastUserText }) => lastUserText === "Do two");

	tui.type("o");
	await tui.waitForText("→ ↑ workflow");
	tui.press("enter");
	await tui.waitForText(/╭─ workflow \w+ ─/);
	tui.type("xx");
	const lines = await until("the workflow has ended", async () => {
		const found = await journal(it.env);
		return found.at(-1)?.type === "ended" ? found : undefined;
	});
	expect(lines.map(({ type }) => type).filter((type) => type !== "called" && type !== "launched")).toEqual([
		"started",
		"paused",
		"continued",
		"retried",
		"answered",
		"ended",
	]);
	expect(lines.at(-1)).toMatchObject({ status: "stopped" });
});
