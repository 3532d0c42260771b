/**
 * Calls that a model should not make: each is a tool error that says what is wrong or what to do instead, is short
 * enough to read, and launches nothing. All in one session, in which one agent works and another has ended.
 */
import {
	all,
	callTool,
	callTools,
	converse,
	gatePis,
	hang,
	lastUserSays,
	type PiEvent,
	say,
	startRpc,
	when,
} from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badCalls } from "../../support/hostile/bad-calls.ts";
import { isScout, isSession, type Scene, scene } from "../../support/scene.ts";

const calls = Object.entries(badCalls).flatMap(([tool, list]) => list.map((each) => ({ tool, ...each })));

const launch = (name: string, more: object) =>
	callTool("Agent", { prompt: `Be ${name}.`, description: name, subagent_type: "repo-scout", name, ...more });

/** Those of a tool in one message: with one in each, pi would send all that came before again for each. */
const messages = Object.entries(badCalls).map(([tool, list]) =>
	callTools(...list.map(({ args }) => callTool(tool, args))),
);

/** What the tools answered, in the order of the calls. */
function answers(events: readonly PiEvent[]): { isError: boolean; text: string }[] {
	return events.flatMap((event) => {
		if (event.type !== "message_end" || event.message.role !== "toolResult") return [];
		const { isError, content } = event.message;
		return [{ isError, text: content.map((part) => (part.type === "text" ? part.text : "")).join("") }];
	});
}

describe.each(await gatePis())("pi $version", (pi) => {
	let it: Scene;
	let given: { isError: boolean; text: string }[] = [];
	let list = "";

	beforeAll(async () => {
		it = await scene(
			[
				converse(
					all(isSession, lastUserSays("Please try.")),
					launch("busy", {}),
					launch("done", { run_in_background: false }),
					...messages,
					say("Enough."),
				),
				when(all(isScout, lastUserSays("Be done.")), say("I am done.")),
				when(all(isScout, lastUserSays("Be busy.")), hang()),
			],
			{ models: [{ id: "fake-1" }, { id: "fake-2" }] },
		);
		const rpc = startRpc({ env: it.env, pi });
		given = answers(await rpc.prompt("Please try.")).slice(2);
		await rpc.send({ type: "prompt", message: "/subagent list" });
		const shown = await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "notify");
		list = shown.type === "extension_ui_request" && shown.method === "notify" ? shown.message : "";
	});
	afterAll(() => it[Symbol.asyncDispose]());

	test.each(calls.map((call, index) => ({ ...call, index })))("$tool with $flaw", ({ index, says }) => {
		const { isError, text } = given[index] ?? { isError: false, text: "(no answer)" };
		expect(text).toMatch(says);
		expect(isError).toBe(true);
		expect(text).not.toMatch(/\n\s+at /);
		expect(text.length).toBeLessThan(2_000);
	});

	test("nothing was launched or stopped by any of them", () => {
		expect(list).toMatch(/^2 agents: 1 running, 1 done\n/);
		expect(it.server.requests.filter(isScout)).toHaveLength(2);
	});
});
