import { describe, expect, test } from "vitest";
import { type AgentError, type ModelFact, matchModel, modelName } from "../../src/index.ts";

const models: ModelFact[] = [
	{ provider: "anthropic", id: "claude-sonnet-4-5-20250929" },
	{ provider: "anthropic", id: "claude-haiku-4-5" },
	{ provider: "openai", id: "gpt-5.2" },
	{ provider: "openai", id: "gpt-5.2-mini" },
	{ provider: "openrouter", id: "anthropic/claude-haiku-4-5" },
	{ provider: "ollama", id: "llama3:8b" },
	{ provider: "ollama", id: "qwen:high" },
];
const found = (wanted: string, prefer?: string) => {
	const { model, thinking } = matchModel(wanted, models, prefer);
	return thinking === undefined ? modelName(model) : `${modelName(model)} thinking ${thinking}`;
};

describe("a name that means one model", () => {
	test.each([
		["the full name", "openai/gpt-5.2", "openai/gpt-5.2"],
		["in any case", "OpenAI/GPT-5.2", "openai/gpt-5.2"],
		["with slashes in the id", "openrouter/anthropic/claude-haiku-4-5", "openrouter/anthropic/claude-haiku-4-5"],
		["its id alone", "gpt-5.2-mini", "openai/gpt-5.2-mini"],
		["one word of it", "sonnet", "anthropic/claude-sonnet-4-5-20250929"],
		["without its date, dots for dashes", "claude-sonnet-4.5", "anthropic/claude-sonnet-4-5-20250929"],
		["words in another order", "4.5 sonnet", "anthropic/claude-sonnet-4-5-20250929"],
		["an id that begins another one", "gpt 5.2", "openai/gpt-5.2"],
		["with a thinking level", "openai/gpt-5.2:high", "openai/gpt-5.2 thinking high"],
		["fuzzy with a thinking level", "sonnet:low", "anthropic/claude-sonnet-4-5-20250929 thinking low"],
		["a colon that belongs to the id", "llama3:8b", "ollama/llama3:8b"],
		["a level that belongs to the id", "ollama/qwen:high", "ollama/qwen:high"],
		["part of a word", "son", "anthropic/claude-sonnet-4-5-20250929"],
		["a word that two providers have", "haiku", "anthropic/claude-haiku-4-5"],
	])("%s: %s", (_what, wanted, expected) => {
		expect(found(wanted)).toBe(expected);
	});
});

test("the parent's provider settles a tie between providers", () => {
	expect(found("haiku", "anthropic")).toBe("anthropic/claude-haiku-4-5");
	expect(found("haiku", "openrouter")).toBe("openrouter/anthropic/claude-haiku-4-5");
});

const errorOf = (wanted: string, among = models) => {
	try {
		return matchModel(wanted, among);
	} catch (error) {
		const { code, message } = error as AgentError;
		return { code, message };
	}
};

describe("a name that does not", () => {
	test("an id that several providers offer, none of them the session's: they are listed, as pi does", () => {
		const several = [...models, { provider: "azure", id: "gpt-5.2" }];
		expect(errorOf("gpt-5.2", several)).toEqual({
			code: "ambiguous_model",
			message: '"gpt-5.2" could be 2 models; give the full name. Candidates: openai/gpt-5.2, azure/gpt-5.2.',
		});
		expect(modelName(matchModel("gpt-5.2", several, "azure").model)).toBe("azure/gpt-5.2");
	});

	test("none: the available ones are listed, but not endlessly", () => {
		expect(errorOf("gemini")).toMatchObject({
			code: "unknown_model",
			message: expect.stringMatching(/^No available model matches "gemini"\. Available: anthropic/),
		});
		const many = Array.from({ length: 60 }, (_, index) => ({ provider: "p", id: `model-${index}` }));
		expect(errorOf("gemini", many)).toMatchObject({ message: expect.stringMatching(/p\/model-11, and 48 more\.$/) });
		expect(errorOf("gemini", [])).toMatchObject({ message: 'No available model matches "gemini". Available: none.' });
	});

	test.each(["", "  ", "/", "---", ":high", "openai", "openai/", "openai/:high"])("%j matches nothing", (wanted) => {
		expect(errorOf(wanted)).toMatchObject({ code: "unknown_model" });
	});
});

test("the order of the models is left alone", () => {
	const before = structuredClone(models);
	found("sonnet");
	errorOf("nothing");
	expect(models).toEqual(before);
});

describe("tiers, dates and display names", () => {
	const anthropic = [
		"claude-3-haiku-20240307",
		"claude-3-5-haiku-latest",
		"claude-haiku-4-5",
		"claude-haiku-4-5-20251001",
		"claude-3-7-sonnet-20250219",
		"claude-sonnet-4-0",
		"claude-sonnet-4-5",
		"claude-sonnet-4-5-20250929",
		"claude-opus-4-1",
		"claude-opus-4-10",
		"claude-opus-4-8",
	].map((id) => ({ provider: "anthropic", id }));
	const copilot = ["claude-sonnet-4", "claude-sonnet-4.5", "gpt-4o", "gpt-5-mini", "gpt-5", "gpt-3.5-turbo"].map(
		(id) => ({ provider: "copilot", id }),
	);
	const router = ["anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5:batch", "openai/gpt-5-mini"].map(
		(id) => ({
			provider: "router",
			id,
		}),
	);
	const bedrock = [
		"anthropic.claude-sonnet-4-20250514-v1:0",
		"us.anthropic.claude-sonnet-4-20250514-v1:0",
		"us.anthropic.claude-sonnet-4-6",
	].map((id) => ({ provider: "bedrock", id }));
	const proxy = [{ provider: "proxy", id: "m-17", name: "Claude Sonnet 4.5 (latest)" }];
	const all = [...anthropic, ...copilot, ...router, ...bedrock];

	test.each<[string, ModelFact[], string]>([
		["sonnet", anthropic, "claude-sonnet-4-5"],
		["haiku", anthropic, "claude-haiku-4-5"],
		["opus", anthropic, "claude-opus-4-10"],
		["Haiku:low", anthropic, "claude-haiku-4-5"],
		["claude-sonnet-4-20250514", anthropic, "claude-sonnet-4-0"],
		["claude-sonnet-4-20250514", copilot, "claude-sonnet-4"],
		["claude-sonnet-4-20250514", bedrock, "us.anthropic.claude-sonnet-4-20250514-v1:0"],
		["claude-3-7-sonnet", anthropic, "claude-3-7-sonnet-20250219"],
		["claude-sonnet-4-5", copilot, "claude-sonnet-4.5"],
		["claude-sonnet-4-5-20250929", copilot, "claude-sonnet-4.5"],
		["Claude Sonnet 4.5", copilot, "claude-sonnet-4.5"],
		["Claude Sonnet 4.5", proxy, "m-17"],
		["sonnet", proxy, "m-17"],
		["anthropic/claude-sonnet-4-5", router, "anthropic/claude-sonnet-4.5"],
		["claude-sonnet-4-5", router, "anthropic/claude-sonnet-4.5"],
		["gpt-5-mini", copilot, "gpt-5-mini"],
		["gpt-5-mini", router, "openai/gpt-5-mini"],
		["gpt-5", copilot, "gpt-5"],
	])("%s", (wanted, among, id) => {
		expect(matchModel(wanted, among).model.id).toBe(id);
	});

	test("the session's provider comes first, unless another has exactly that id", () => {
		expect(modelName(matchModel("sonnet", all, "router").model)).toBe("router/anthropic/claude-sonnet-4.5");
		expect(modelName(matchModel("sonnet", all, "copilot").model)).toBe("copilot/claude-sonnet-4.5");
		expect(modelName(matchModel("sonnet", all, "openai").model)).toMatch(/^(anthropic|copilot)\/claude-sonnet-4[-.]5$/);
		expect(modelName(matchModel("claude-opus-4-8", all, "copilot").model)).toBe("anthropic/claude-opus-4-8");
	});

	test("gpt-5 never means gpt-3.5-turbo, nor 4 any other four", () => {
		const old = [
			{ provider: "openai", id: "gpt-3.5-turbo" },
			{ provider: "openai", id: "gpt-4o" },
		];
		expect(errorOf("gpt-5", old)).toMatchObject({ code: "unknown_model" });
		expect(errorOf("gpt-4", old)).toMatchObject({ code: "unknown_model" });
		expect(errorOf("claude-sonnet-3", anthropic)).toMatchObject({ model: { id: "claude-3-7-sonnet-20250219" } });
		expect(errorOf("claude-opus-5", anthropic)).toMatchObject({ code: "unknown_model" });
	});
});
