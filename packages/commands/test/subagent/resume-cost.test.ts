import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDialogs } from "../../src/questions/dialogs.ts";
import { expensiveTurn, turnCostText } from "../../src/subagent/resume-cost.ts";
import { resumeInterrupted } from "../../src/subagent/start-stop.ts";
import { spec } from "../fixture.ts";
import { type Step, type World, world } from "../menu/fixture.ts";

const price = (contextWindow: number, input = 0, cacheRead = 0) => ({ contextWindow, cost: { input, cacheRead } });

test.each([
	["a window that is half full", 50, price(200_000, 3, 0.3), true],
	["just below, for little money", 49, price(200_000, 1, 0.1), false],
	["a small window that is full", 99, price(32_000, 0.1), false],
	["little context for a dear model", 18, price(200_000, 100), false],
	["enough context for a dear model", 25, price(200_000, 15, 1.5), true],
	["enough context for a cheap one", 25, price(200_000, 1, 0.1), false],
	["a model without a price", 60, price(1_000_000), true],
	["a model that is not known", 99, undefined, false],
	["a context that is not known", undefined, price(200_000, 15), false],
])("what is expensive: %s", (_what, percent, model, isExpensive) => {
	expect(expensiveTurn(percent, { filledBy: model, readBy: model }) !== undefined).toBe(isExpensive);
});

test("another model reads what the last one wrote, at its own price", () => {
	const turn = expensiveTurn(71, { filledBy: price(200_000, 100, 10), readBy: price(1_000_000, 3, 0.3) });
	expect(turn && turnCostText(turn)).toBe(
		"Each turn sends about 142k tokens (about $0.43, or $0.04 while the provider has them cached).",
	);
});

test.each([
	[{ tokens: 142_200, cost: 0.43, cachedCost: 0 }, "Each turn sends about 142k tokens (about $0.43)."],
	[{ tokens: 142_200, cost: 0.43, cachedCost: 0.43 }, "Each turn sends about 142k tokens (about $0.43)."],
	[{ tokens: 1_200_000, cost: 0, cachedCost: 0 }, "Each turn sends about 1.2M tokens."],
	[
		{ tokens: 100_000, cost: 0.02, cachedCost: 0.002 },
		"Each turn sends about 100k tokens (about $0.02, or $0.002 while the provider has them cached).",
	],
])("the warning %#", (turn, said) => {
	expect(turnCostText(turn)).toBe(said);
});

let it: World;
beforeEach(async () => {
	it = await world({ isOnScreen: true, modelOf: () => price(200_000, 3, 0.3) });
});
afterEach(() => it[Symbol.asyncDispose]());

/** A finished agent with as much in its context. */
function finished(contextPercent: number): string {
	const { id } = it.manager.spawn({ ...spec, type: "Explore" }, { isBackground: true });
	it.runner.runs.at(-1)?.emit({ type: "turn", contextPercent });
	it.manager.abort(id, { by: "shutdown" });
	return id;
}

const resumes = (id: string, ...answer: readonly Step[]) =>
	it.runMenu({ choose: "session" }, { choose: id, press: "r" }, { type: "Again." }, ...answer);

test("the list asks before it resumes such an agent, and does as the user says", async () => {
	const [dear, cheap] = [finished(71), finished(10)];
	const shown = await resumes(dear, { choose: "Do not resume it" });
	expect(shown).toContainEqual(
		expect.stringMatching(
			new RegExp(
				`^Resume Explore ${dear}\\?\\nEach turn sends about 142k tokens .*\\nDo not resume it \\| Compact first, then resume \\| Resume as it is$`,
			),
		),
	);
	expect(it.runner.runs).toHaveLength(2);
	await resumes(dear, "back");
	expect(it.runner.runs).toHaveLength(2);
	await resumes(dear, { choose: "Compact first, then resume" });
	expect(it.runner.runs.at(-1)?.spec).toMatchObject({ task: "Again.", compactsFirst: true });
	it.manager.abort(dear, { by: "user" });
	await resumes(dear, { choose: "Resume as it is" });
	expect(it.runner.runs.at(-1)?.spec).not.toHaveProperty("compactsFirst");
	await resumes(cheap);
	expect(it.runner.runs).toHaveLength(5);
	expect(it.runner.runs.at(-1)?.spec).not.toHaveProperty("compactsFirst");
});

test("without a user nothing blocks: a warning says what each turn sends", async () => {
	const id = finished(71);
	const notices: string[] = [];
	const ui = { notify: (text: string) => notices.push(text) };
	const ctx = { ...it.ctx, mode: "rpc", hasUI: false, ui } as unknown as ExtensionContext;
	const agent = it.manager.store.record(id);
	const dialogs = { ...createDialogs(), inTurn: () => Promise.reject(new Error("nobody can be asked")) };
	await resumeInterrupted({ ...it, dialogs, host: { warn: () => undefined } }, agent ? [agent] : [], ctx);
	expect(notices).toEqual([
		expect.stringMatching(/^Each turn sends about 142k tokens/),
		"Resumed 1 agent; the results will appear here.",
	]);
	expect(it.runner.runs).toHaveLength(2);
});
