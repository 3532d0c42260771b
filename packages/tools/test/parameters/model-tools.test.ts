import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import { describe, expect, expectTypeOf, test } from "vitest";
import { createListModelsTool, listedModels, type ModelSource } from "../../src/list-models-tool.ts";
import { modelParameter } from "../../src/parameters/model-parameter.ts";
import { createRegistrationGate } from "../../src/parameters/registration-gate.ts";

type Available = ReturnType<ModelSource["modelRegistry"]["getAvailable"]>[number];

const model = (name: string, facts: Partial<Available> = {}): Available => {
	const [provider = "", ...id] = name.split("/");
	return { provider, id: id.join("/"), contextWindow: 200_000, reasoning: false, ...facts };
};

const OPUS = model("anthropic/opus", { reasoning: true });
const HAIKU = model("anthropic/haiku");
const FREE = model("router/deep/r1:free", { contextWindow: 64_000, reasoning: true });

describe("list_models", () => {
	const session = (available: readonly Available[], rest: Partial<ModelSource> = {}): ModelSource => ({
		modelRegistry: { getAvailable: () => available },
		model: undefined,
		scopedModels: [],
		...rest,
	});
	const list = async (source: ModelSource, params: { provider?: string } = {}) => {
		const tool = createListModelsTool({ models: () => listedModels(source) });
		const { content } = await tool.execute("1", params, undefined, undefined, {} as ExtensionContext);
		return content.map((part) => (part.type === "text" ? part.text : "")).join("");
	};

	test("reads a pi session", () => {
		expectTypeOf<ExtensionContext>().toExtend<ModelSource>();
	});

	test("lists what can be used, in pi's order", async () => {
		expect(await list(session([OPUS, FREE, HAIKU]))).toBe(
			[
				"3 models (context window):",
				"anthropic/opus (200k, reasons)",
				"router/deep/r1:free (64k, reasons)",
				"anthropic/haiku (200k)",
			].join("\n"),
		);
	});

	test("marks the session's own, and those that the user has not enabled", async () => {
		const source = session([OPUS, HAIKU, FREE], { model: HAIKU, scopedModels: [{ model: HAIKU }, { model: FREE }] });
		expect((await list(source)).split("\n").slice(1)).toEqual([
			"anthropic/opus (200k, reasons, not enabled by the user)",
			"anthropic/haiku (200k, this session's)",
			"router/deep/r1:free (64k, reasons)",
		]);
	});

	test("lists one provider's, however it is spelled", async () => {
		expect(await list(session([OPUS, FREE]), { provider: " Router " })).toBe(
			"1 model (context window):\nrouter/deep/r1:free (64k, reasons)",
		);
		expect(await list(session([OPUS, FREE]), { provider: "" })).toContain("2 models");
	});

	test("names the providers when there is none of that name", async () => {
		const source = session([OPUS, HAIKU, FREE]);
		await expect(list(source, { provider: "antropic" })).rejects.toMatchObject({
			code: "unknown_model",
			message: 'No model of a provider "antropic" can be used. Did you mean "anthropic"? Known: anthropic, router.',
		});
		await expect(list(source, { provider: "mars\x1b[2J" })).rejects.toThrow(
			'No model of a provider "mars" can be used. Known: anthropic, router.',
		);
	});

	test("shows two hundred, and says how many more there are and how to see them", async () => {
		const many = Array.from({ length: 1_250 }, (_, index) => model(`p${index % 25}/m${index}`));
		const lines = (await list(session(many))).split("\n");
		expect(lines).toHaveLength(202);
		expect(lines[0]).toBe("1,250 models (context window):");
		expect(lines.at(-1)).toMatch(/^and 1,050 more; give provider to see them: p0, p1, .*, p19, and 5 more$/);
	});

	test("says that a model can be used though it is not shown", async () => {
		const many = Array.from({ length: 201 }, (_, index) => model(`router/m${index}`));
		const lines = (await list(session(many), { provider: "router" })).split("\n");
		expect(lines.at(-1)).toBe("and 1 more; `model` takes them too");
	});

	test("says what to do when no model can be used", async () => {
		const expected = "No model can be used: the user must first log in to a provider or give an API key.";
		expect(await list(session([]))).toBe(expected);
		expect(await list(session([]), { provider: "x" })).toBe(expected);
	});

	test("costs little in every request", () => {
		expect(createListModelsTool({ models: () => [] }).description.length).toBeLessThanOrEqual(120);
	});
});

describe("the model parameter", () => {
	const names = (count: number) => Array.from({ length: count }, (_, index) => `p/${index}`);
	const asJson = (given: readonly string[]): unknown =>
		JSON.parse(JSON.stringify(modelParameter(given, { hasList: true })));
	const tool = (given: readonly string[]) => Type.Object({ model: modelParameter(given, { hasList: true }) });

	test("names up to twelve models, in the order given", () => {
		const given = Object.freeze(names(12).reverse());
		expect(asJson(given)).toEqual({
			anyOf: [{ enum: given }, { type: "string" }],
			description: "Instead of the preset's",
		});
	});

	test("names each once", () => {
		expect(asJson(["b/1", "a/1", "b/1"])).toMatchObject({ anyOf: [{ enum: ["b/1", "a/1"] }, {}] });
		expect(asJson([...names(12), ...names(12)])).toMatchObject({ anyOf: [{ enum: names(12) }, {}] });
	});

	test.each([0, 13, 500])("is any string that list_models explains with %i models", (count) => {
		expect(asJson(names(count))).toEqual({
			type: "string",
			description: "provider/id from list_models, instead of the preset's",
		});
	});

	test("names none when their names are long", () => {
		const long = (count: number) =>
			Array.from({ length: count }, (_, index) => `provider/${"long-".repeat(8)}${index}`);
		expect(asJson(long(3))).toMatchObject({ anyOf: [{ enum: long(3) }, { type: "string" }] });
		expect(asJson(long(4))).toMatchObject({ type: "string" });
	});

	test("does not speak of list_models where there is no such tool", () => {
		expect(modelParameter([], { hasList: false })).toMatchObject({
			type: "string",
			description: "provider/id, instead of the preset's",
		});
	});

	test("may be left out, and is checked when it is not", () => {
		expect([{}, { model: "p/0" }, { model: "p/9" }, { model: 1 }].map((value) => Check(tool(names(2)), value))).toEqual(
			[true, true, true, false],
		);
		expect([{}, { model: "anything" }, { model: 1 }].map((value) => Check(tool([]), value))).toEqual([
			true,
			true,
			false,
		]);
		expectTypeOf<Static<ReturnType<typeof tool>>>().toEqualTypeOf<{ model?: string }>();
	});
});

describe("the tools are registered", () => {
	test("when the first models are seen, and anew when the set of them changes", () => {
		const gate = createRegistrationGate();
		expect([[OPUS], [OPUS, HAIKU], [HAIKU], [FREE]].map(gate)).toEqual([
			"register",
			"register",
			"register",
			"register",
		]);
	});

	test("not anew when the same models come in another order, or twice", () => {
		const gate = createRegistrationGate();
		expect(
			[
				[OPUS, HAIKU, FREE],
				[FREE, OPUS, HAIKU],
				[OPUS, HAIKU, FREE, OPUS],
			].map(gate),
		).toEqual(["register", "unchanged", "unchanged"]);
	});

	test("not anew when only facts about a model change", () => {
		const gate = createRegistrationGate();
		expect([[OPUS], [{ ...OPUS, contextWindow: 1 }]].map(gate)).toEqual(["register", "unchanged"]);
	});

	test("later, when there was no model at first", () => {
		const gate = createRegistrationGate();
		expect([[], [], [OPUS], [OPUS]].map(gate)).toEqual(["none", "none", "register", "unchanged"]);
	});

	test("still, when all models have vanished", () => {
		const gate = createRegistrationGate();
		expect([[OPUS], [], [OPUS], [], [HAIKU]].map(gate)).toEqual([
			"register",
			"unchanged",
			"unchanged",
			"unchanged",
			"register",
		]);
	});

	test("without changing what was given", () => {
		const gate = createRegistrationGate();
		const given = Object.freeze([FREE, OPUS, HAIKU]);
		gate(given);
		gate(Object.freeze(given.toReversed()));
		expect(given).toEqual([FREE, OPUS, HAIKU]);
	});
});
