/**
 * A scripted model for tests in one process: pi-ai's faux provider, told by the rules of the test what to answer,
 * in a model runtime that knows nothing of the user's keys and files.
 */
import type { FauxModelDefinition, Model, Provider } from "@earendil-works/pi-ai";
import type { ModelRuntime } from "@earendil-works/pi-coding-agent";
import type { RequestView } from "../script/request.ts";
import type { Rule } from "../script/rules.ts";

export interface FauxModelOptions {
	/** Id of the provider. Default `faux`. */
	readonly provider?: string;
	/** Default: one model, `faux-1`. */
	readonly models?: readonly FauxModelDefinition[];
}

export interface FauxModel {
	readonly provider: Provider;
	/** Has this provider and no other with credentials. */
	readonly modelRuntime: ModelRuntime;
	/** The first of the models. */
	readonly model: Model<string>;
	readonly models: readonly Model<string>[];
	readonly requests: readonly RequestView[];
	/** The first request, already seen or still to come, for which the condition holds. */
	nextRequest(
		condition?: (request: RequestView) => boolean,
		options?: { readonly timeoutMs?: number },
	): Promise<RequestView>;
}

/** A function from the request to the reply, or rules of which the first that applies answers. */
export async function fauxModel(script: Rule | readonly Rule[], options: FauxModelOptions = {}): Promise<FauxModel> {
	const { createFauxModel } = await import("./faux-model.lazy.ts");
	return createFauxModel(typeof script === "function" ? [script] : script, options);
}
