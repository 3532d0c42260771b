/** What `@name message` does to agents, with a real manager, launcher and settings file. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Block } from "@pi-subagents/widget/dialogs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mentions } from "../../src/input/mention-actions.ts";
import { offerMentions } from "../../src/input/register.ts";
import { createDialogs } from "../../src/questions/dialogs.ts";
import { spec, text } from "../fixture.ts";
import { type World, world } from "../menu/fixture.ts";

let it: World;
beforeEach(async () => {
	it = await world();
});
afterEach(() => it[Symbol.asyncDispose]());

const onScreen = { dialogs: createDialogs(), host: { warn: () => undefined } };

type Mode = ExtensionContext["mode"];

/** Sends a text as pi does; what became of it, and what the user was shown. */
async function send(
	typed: string,
	{ mode = "tui" as Mode, images = [] as object[], editor = "", chosen = undefined as string | undefined } = {},
) {
	const shown: string[] = [];
	const pi = {
		appendEntry: (_type: string, { blocks }: { blocks: Block[] }) => shown.push(text(blocks)),
	} as unknown as ExtensionAPI;
	let edited = editor;
	const ui = {
		select: async (title: string) => {
			shown.push(title);
			return chosen;
		},
		notify: (said: string, level: string) => shown.push(`${level}: ${said}`),
		getEditorText: () => edited,
		setEditorText: (value: string) => {
			edited = value;
		},
	};
	const ctx = { ...it.ctx, mode, hasUI: mode === "tui" || mode === "rpc", ui } as unknown as ExtensionContext;
	const result = await mentions(pi, { ...it, ...onScreen }).handle({ text: typed, images: images as never }, ctx);
	return { result, shown, editor: edited };
}

const launch = () => it.manager.spawn({ ...spec, type: "Explore" }, { isBackground: true, launchedBy: "model" });

test("a running or queued agent is steered, and the session takes no turn", async () => {
	const { id } = launch();
	expect(await send(`@${id} Look left.`)).toEqual({
		result: { action: "handled" },
		shown: [`@${id} Look left.\n\n→ Explore ${id} has your message.`],
		editor: "",
	});
	expect(it.runner.runs.at(-1)?.steers).toEqual(["Look left."]);
	it.manager.setSlots({ maxConcurrent: 1, maxPerProvider: 0, maxPerModel: 0, whenFull: "queue" });
	const queued = launch();
	await send(`@${queued.id} Look right.`);
	it.manager.abort(id, { by: "user" });
	expect(it.runner.runs.at(-1)?.steers).toEqual(["Look right."]);
});

test("a waiting agent gets the answer to its question", async () => {
	const { id } = launch();
	const answer = it.manager.ask(id, { question: "Which colour?" });
	expect((await send(`@${id} heliotrope`)).shown).toEqual([`@${id} heliotrope\n\n→ Explore ${id} has your answer.`]);
	expect(await answer).toEqual({ by: "user", text: "heliotrope" });
});

test("a finished agent is resumed, and a preset started, for the user", async () => {
	const { id } = launch();
	it.manager.abort(id, { by: "user" });
	expect((await send(`@${id} Once more.`)).shown.join()).toContain(`→ Explore ${id} is running again;`);
	expect(it.manager.store.record(id)).toMatchObject({
		run: 2,
		launchedBy: "user",
		isBackground: true,
		task: "Once more.",
	});
	expect((await send("@explore Find it.")).shown.join()).toMatch(
		/→ Explore agent2 has started; the result will appear here\./,
	);
	expect(it.manager.store.record("agent2")).toMatchObject({ launchedBy: "user", isBackground: true, task: "Find it." });
});

test("a resumption that would be expensive is asked about first, and its text comes back if it is not wanted", async () => {
	await it[Symbol.asyncDispose]();
	it = await world({ modelOf: () => ({ contextWindow: 200_000, cost: { input: 3, cacheRead: 3 } }) });
	const { id } = launch();
	it.runner.runs.at(-1)?.emit({ type: "turn", contextPercent: 71 });
	it.manager.abort(id, { by: "user" });
	const declined = await send(`@${id} Once more.`, { mode: "rpc" });
	expect(declined.shown).toEqual([expect.stringMatching(/^Resume Explore .*\nEach turn sends about 142k tokens/)]);
	expect(it.runner.runs).toHaveLength(1);
	await send(`@${id} Once more.`, { mode: "rpc", chosen: "Compact first, then resume" });
	expect(it.runner.runs.at(-1)?.spec).toMatchObject({ task: "Once more.", compactsFirst: true });
});

test("what cannot be done is said, and the text comes back to an empty editor", async () => {
	await it.write("agent/subagents.json", JSON.stringify({ agentOverrides: { Explore: { enabled: false } } }));
	const refused = await send("@Explore Find it.");
	expect(refused).toMatchObject({ result: { action: "handled" }, editor: "@Explore Find it." });
	expect(refused.shown.join()).toContain('Preset "Explore" is switched off');
	expect((await send("@Explore Find it.", { editor: "the next text" })).editor).toBe("the next text");
	expect((await send("@Explore Find it.", { mode: "rpc" })).shown.join()).toMatch(/^error: @Explore Find it\./);
});

test("files of the project, unknown names and messages with images stay pi's", async () => {
	await it.write("project/Explore", "a file");
	expect((await send("@Explore what is this?")).result).toBeUndefined();
	expect((await send("@nobody what is this?")).result).toBeUndefined();
	expect((await send("@Plan what is this?", { images: [{}] })).result).toBeUndefined();
	expect(it.runner.runs).toEqual([]);
});

test("@main sends the rest to the session as it is", async () => {
	expect((await send("@main @Explore is a preset")).result).toEqual({
		action: "transform",
		text: "@Explore is a preset",
	});
});

test("with `model`, and where no user is, the model gets the message with a note", async () => {
	const note =
		'@Explore Find it.\n\n(This message addresses the preset "Explore": delegate this to a sub-agent of that preset.)';
	for (const mode of ["print", "json"] as const)
		expect((await send("@Explore Find it.", { mode })).result).toEqual({ action: "transform", text: note });
	await it.write("agent/subagents.json", JSON.stringify({ mentions: "model" }));
	expect((await send("@Explore Find it.")).result).toEqual({ action: "transform", text: note });
	expect(it.runner.runs).toEqual([]);
});

test("with `off`, nothing has a meaning, not even @main, and no name is suggested", async () => {
	await it.write("agent/subagents.json", JSON.stringify({ mentions: "off" }));
	expect((await send("@Explore Find it.")).result).toBeUndefined();
	expect((await send("@main Find it.")).result).toBeUndefined();
	expect(mentions({} as ExtensionAPI, { ...it, ...onScreen }).suggest("")).toEqual([]);
});

test("the code is loaded for a text of the user that begins with an @, and for no other", async () => {
	let loads = 0;
	let hear: ((event: object, ctx: object) => Promise<unknown>) | undefined;
	const pi = {
		on: (name: string, handler: typeof hear) => {
			if (name === "input") hear = handler;
		},
	};
	offerMentions(pi as unknown as ExtensionAPI, async () => {
		loads++;
		return { handle: async () => ({ action: "handled" }), suggest: () => [] };
	});
	expect(await hear?.({ text: "find it", source: "interactive" }, {})).toBeUndefined();
	expect(await hear?.({ text: "@Explore find it", source: "extension" }, {})).toBeUndefined();
	expect(loads).toBe(0);
	expect(await hear?.({ text: "@Explore find it", source: "rpc" }, {})).toEqual({ action: "handled" });
});
