/**
 * Models that only an extension provides. pi takes another model, or asks the provider for one that it does not know,
 * if the extension is not loaded: a child in its own process checks that it has the model it was started with.
 */
const VARIABLE = "PI_SUBAGENTS_EXTENSION_MODELS";

/** The variables for the child's environment. */
export function extensionModelVariables(models: readonly string[]): Record<string, string> {
	return models.length === 0 ? {} : { [VARIABLE]: JSON.stringify(models) };
}

/** The model in pi's arguments, if only an extension provides it. */
export function extensionModelIn(
	args: readonly string[],
	env: Readonly<Record<string, string | undefined>>,
): string | undefined {
	const models = JSON.parse(env[VARIABLE] ?? "[]") as string[]; // written by `extensionModelVariables`
	const model = args[args.indexOf("--model") + 1];
	return models.find((each) => each === model);
}

export function missingExtension(model: string): string {
	return `Model ${model} comes from an extension that the agent's process does not load. Name the extension in \`extensions\` of its preset, or run the agent in the session (\`runner: session\`).`;
}
