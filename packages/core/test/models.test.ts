import { describe, expect, test } from "vitest";
import { type AgentError, type ModelFact, matchModel, modelName } from "../src/index.ts";

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
	test("several could be meant: they are listed", () => {
		expect(errorOf("haiku")).toEqual({
			code: "ambiguous_model",
			message:
				'"haiku" could be 2 models; give the full name. Candidates: anthropic/claude-haiku-4-5, openrouter/anthropic/claude-haiku-4-5.',
		});
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

	test.each(["", "  ", "/", "---", ":high"])("%j matches nothing", (wanted) => {
		expect(errorOf(wanted)).toMatchObject({ code: "unknown_model" });
	});
});

test("the order of the models is left alone", () => {
	const before = structuredClone(models);
	found("sonnet");
	errorOf("nothing");
	expect(models).toEqual(before);
});
