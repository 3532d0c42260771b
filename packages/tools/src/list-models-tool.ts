/** `list_models`: what `model` accepts in the tools that launch. */
import { defineTool, type ExtensionContext, type ToolDefinition } from "@earendil-works/pi-coding-agent";
import { AgentError, type ModelFact, modelName, nearest } from "@pi-subagents/core";
import { quoted } from "@pi-subagents/core/internal/base";
import { formatCount, formatTokens, sanitize } from "@pi-subagents/progress";
import { Type } from "typebox";
import { bounded } from "./waiting/bounded.ts";

const parameters = Type.Object({
	provider: Type.Optional(Type.String({ description: "Only this provider's" })),
});

interface ListedModel extends ModelFact {
	contextWindow: number;
	reasoning: boolean;
	/** The session itself uses it now. */
	isCurrent: boolean;
}

/** What is read of a session. */
export interface ModelSource {
	modelRegistry: {
		getAvailable(): readonly Pick<ListedModel, "provider" | "id" | "contextWindow" | "reasoning">[];
	};
	model: Pick<ModelFact, "provider" | "id"> | undefined;
	scopedModels: readonly { model: Pick<ModelFact, "provider" | "id"> }[];
}

const MAX_MODELS = 200;
const MAX_PROVIDERS = 20;

/** The models that can be used, in pi's order. */
export function listedModels({ modelRegistry, model: own, scopedModels }: ModelSource): ListedModel[] {
	const current = own && modelName(own);
	const scope = new Set(scopedModels.map(({ model }) => modelName(model)));
	return modelRegistry.getAvailable().map((model) => {
		const { provider, id, contextWindow, reasoning } = model;
		const name = modelName(model);
		const listed = { provider, id, contextWindow, reasoning, isCurrent: name === current };
		return scope.size === 0 ? listed : { ...listed, inScope: scope.has(name) };
	});
}

/** `models` are those of the session that the caller belongs to; absent: all that pi can use. */
export function createListModelsTool({
	models = listedModels,
}: {
	models?: (ctx: ExtensionContext) => readonly ListedModel[];
} = {}): ToolDefinition<typeof parameters, undefined> {
	return bounded(
		defineTool({
			name: "list_models",
			label: "List models",
			description: "List what `model` accepts.",
			parameters,
			async execute(_callId, { provider }, _signal, _onUpdate, ctx) {
				return { content: [{ type: "text", text: listText(models(ctx), provider?.trim()) }], details: undefined };
			},
		}),
	);
}

function listText(models: readonly ListedModel[], provider: string | undefined): string {
	if (models.length === 0) return "No model can be used: the user must first log in to a provider or give an API key.";
	const wanted = provider ? ofProvider(models, provider) : models;
	const shown = wanted.slice(0, MAX_MODELS);
	const more = wanted.length - shown.length;
	const rest = provider ? "`model` takes them too" : `give provider to see them: ${providerList(models)}`;
	return [
		`${formatCount(wanted.length, "model")} (context window):`,
		...shown.map(lineOf),
		...(more > 0 ? [`and ${formatCount(more, "more", "more")}; ${rest}`] : []),
	].join("\n");
}

function ofProvider(models: readonly ListedModel[], wanted: string): readonly ListedModel[] {
	const found = models.filter(({ provider }) => provider.toLowerCase() === wanted.toLowerCase());
	if (found.length > 0) return found;
	const hint = nearest(wanted, providersOf(models));
	throw new AgentError(
		"unknown_model",
		[
			`No model of a provider ${quoted(wanted)} can be used.`,
			...(hint === undefined ? [] : [`Did you mean "${sanitize(hint)}"?`]),
			`Known: ${providerList(models)}.`,
		].join(" "),
	);
}

function providersOf(models: readonly ListedModel[]): string[] {
	return [...new Set(models.map(({ provider }) => provider))];
}

function providerList(models: readonly ListedModel[]): string {
	const providers = providersOf(models);
	const more = providers.length - MAX_PROVIDERS;
	return `${providers.slice(0, MAX_PROVIDERS).map(sanitize).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

function lineOf(model: ListedModel): string {
	const facts = [
		formatTokens(model.contextWindow),
		...(model.reasoning ? ["reasons"] : []),
		...(model.isCurrent ? ["this session's"] : []),
		...(model.inScope === false ? ["not enabled by the user"] : []),
	];
	return `${sanitize(modelName(model))} (${facts.join(", ")})`;
}
