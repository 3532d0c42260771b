/** A provider that only an extension of the user's knows, with one model: `homegrown/oak`. */
export function homegrown(baseUrl: string): object {
	const model = {
		id: "oak",
		name: "Oak",
		reasoning: false,
		input: ["text"],
		contextWindow: 128_000,
		maxTokens: 8_192,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	};
	return { baseUrl, api: "openai-completions", apiKey: "none", models: [model] };
}
