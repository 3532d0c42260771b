/** Dialogs of extensions inside a child in this process. */
import { join } from "node:path";
import { initTheme } from "@earendil-works/pi-coding-agent";
import { callTool, converse, say } from "@pi-subagents-dev/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import type { DialogAnswer } from "../../../core/src/index.ts";
import { handClock } from "../../../core/src/testing/index.ts";
import { childUi } from "../../src/session/child-ui.ts";
import type { SessionUi } from "../../src/session/index.ts";
import { person } from "../fixtures/person.ts";
import { sessionWorld } from "../fixtures/session.ts";
import { put, start } from "./user-fixture.ts";

beforeAll(() => initTheme("dark"));

/** A child that reads a file, guarded by an extension whose `tool_call` handler has this body. */
async function guardedWorld(body: string) {
	const world = await sessionWorld(
		converse(
			() => true,
			callTool("read", { path: "note.txt" }),
			({ lastToolResults }) => say(`Result: ${lastToolResults[0]?.text}`),
		),
	);
	await put(join(world.spec.cwd, "note.txt"), "milk");
	const handler = `export default function (pi) { pi.on("tool_call", async (event, ctx) => { ${body} }); }`;
	await put(join(world.host.agentDir, "extensions", "guard.ts"), handler);
	return { ...world, spec: { ...world.spec, extensions: ["guard"] } };
}

/** Blocks the call with what the expression gives. */
const saying = (expression: string) => `return { block: true, reason: JSON.stringify(${expression}) };`;

async function textOf(world: Awaited<ReturnType<typeof guardedWorld>>, ui: SessionUi | undefined): Promise<string> {
	const outcome = await start(world, ui ? { host: { ui } } : {}).settled;
	return outcome.status === "completed" ? outcome.text : JSON.stringify(outcome);
}

describe("what an extension in a child sees", () => {
	test("is an RPC client, with a user only if someone can answer", async () => {
		await using world = await guardedWorld(saying("[ctx.mode, ctx.hasUI]"));
		expect(await textOf(world, person().ui)).toBe('Result: ["rpc",true]');
		expect(await textOf(world, person({ canAnswer: false }).ui)).toBe('Result: ["rpc",false]');
		expect(await textOf(world, undefined)).toBe('Result: ["rpc",false]');
	});

	test("is every member that pi itself offers, also after pi has copied it", async () => {
		await using world = await guardedWorld(
			saying(`[Object.keys(ctx.ui).length, ctx.ui.theme.fg("accent", "x"), typeof ctx.ui.onTerminalInput(() => {})]`),
		);
		expect(await textOf(world, person().ui)).toBe('Result: [28,"x","function"]');
	});

	test("is an answer of the user for each kind of dialog", async () => {
		await using world = await guardedWorld(`
			const { ui } = ctx;
			const chosen = await ui.select("Which?", ["left", "right"]);
			const isSure = await ui.confirm("Sure?", "Really?");
			const typed = await ui.input("Why?", "because");
			const edited = await ui.editor("Edit", "draft");
			ui.notify("done", "warning");
			${saying("[chosen, isSure, typed, edited, await ui.custom(() => {}) ?? null]")}`);
		const { ui, asked, notices, next } = person();
		const answers: DialogAnswer[] = [{ choice: 1 }, { confirmed: true }, { text: "so" }, { text: "final" }];
		const answered = (async () => {
			for (const answer of answers) (await next()).answer(answer);
		})();
		expect(await textOf(world, ui)).toBe('Result: ["right",true,"so","final",null]');
		await answered;
		expect(asked.map(({ dialog }) => dialog)).toEqual([
			{ kind: "select", title: "Which?", options: ["left", "right"] },
			{ kind: "confirm", title: "Sure?", message: "Really?" },
			{ kind: "input", title: "Why?", placeholder: "because" },
			{ kind: "editor", title: "Edit", prefill: "draft" },
		]);
		expect(notices).toEqual([{ text: "done", level: "warning" }]);
	});

	test("is no answer if the user dismisses it, as in pi", async () => {
		await using world = await guardedWorld(
			saying(`[await ctx.ui.select("Which?", ["a"]) ?? null, await ctx.ui.confirm("Sure?", "")]`),
		);
		const { ui, next } = person();
		const dismissed = (async () => {
			(await next()).answer(undefined);
			(await next()).answer(undefined);
		})();
		expect(await textOf(world, ui)).toBe("Result: [null,false]");
		await dismissed;
	});
});

test("a stop ends a dialog that is open, and does not wait for its answer", async () => {
	await using world = await guardedWorld(saying(`await ctx.ui.confirm("Sure?", "")`));
	const { ui, next } = person();
	const run = start(world, { host: { ui } });
	const { signal } = await next();
	run.abort({ by: "user" });
	expect(signal.aborted).toBe(true);
	expect(await run.settled).toMatchObject({ status: "aborted", by: "user" });
});

test("once the child has ended no dialog opens, and asking again and again keeps nothing busy", async () => {
	const { ui, asked, notices } = person();
	const ended = new AbortController();
	const clock = handClock();
	const inside = childUi(ui, { agentId: "a1", ended: ended.signal, clock });
	ended.abort();
	let answer: unknown = "none";
	void inside.confirm("Sure?", "").then((given) => {
		answer = given;
	});
	inside.notify("late");
	await new Promise(setImmediate);
	expect(answer).toBe("none");
	clock.advance(1_000);
	await new Promise(setImmediate);
	expect({ answer, asked, notices }).toEqual({ answer: false, asked: [], notices: [] });
	for (let times = 0; times < 10; times++) void inside.confirm("Sure?", "");
	expect(clock.waiting()).toBe(2);
});
