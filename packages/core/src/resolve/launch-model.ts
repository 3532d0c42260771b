/** The model of a launch, and those that may take over from it: named, inherited, or refused. Pure. */
import { AgentError } from "../base/error.ts";
import type { Defaults, Facts, ResolveInput } from "./input.ts";
import type { Layers } from "./layers.ts";
import { type ModelFact, matchModel, modelName } from "./models.ts";
import { matchPresetModel } from "./preset-model.ts";

export function resolveModel(input: ResolveInput, layers: Layers) {
	const { defaults, parent, facts } = input;
	const wanted = layers.pick("model")?.trim();
	if (!wanted || wanted.toLowerCase() === "inherit") return inheritModel(input, layers, { isAsked: !!wanted });
	const isFromFile = layers.origins.model === "preset";
	const { match, warning } = isFromFile
		? matchPresetModel(wanted, input.preset, facts.models, parent)
		: { match: matchModel(wanted, facts.models, parent.model?.provider), warning: undefined };
	if (warning !== undefined) layers.warnings.push(warning);
	if (!match) return inheritModel(input, layers, { isAsked: true });
	const { model, thinking } = match;
	const name = modelName(model);
	const problem = outOfScope(model, defaults, facts);
	// A caller can ask for another model; what a file pins must not make the file useless.
	if (problem !== undefined && defaults.scope === "deny" && layers.origins.model === "call")
		throw new AgentError("model_out_of_scope", problem);
	if (problem !== undefined) layers.warnings.push(problem);
	return { name, thinking };
}

/** Undefined if the model is enabled, or that does not matter. */
function outOfScope(model: ModelFact, { scope }: Defaults, { models }: Facts): string | undefined {
	if (!scope || model.inScope !== false) return undefined;
	const enabled = models.filter(({ inScope }) => inScope).map(modelName);
	return `Model ${modelName(model)} is not among your enabled models (${enabled.join(", ") || "none is available"}).`;
}

/**
 * The parent's model, unless a model must be named: `subagent` and `background_agent` require that for files in the
 * two `subagents` directories. All other launches inherit.
 */
function inheritModel(
	{ request, preset, parent, facts }: ResolveInput,
	layers: Layers,
	{ isAsked }: { isAsked: boolean },
) {
	const { kind, flavour } = preset.source;
	const isOfSubagentsDir = flavour === "subagents" && (kind === "global" || kind === "project");
	const mustBeNamed = request.requiresModel === true && isOfSubagentsDir && !isAsked;
	if (parent.model && !mustBeNamed) {
		layers.note("model", "parent");
		return { name: modelName(parent.model), thinking: undefined };
	}
	const names = facts.models.slice(0, 12).map(modelName).join(", ");
	if (!mustBeNamed)
		throw new AgentError(
			"no_model",
			`No model: the session has none to inherit, and neither the call nor preset "${preset.name}" names one. Choose one with /model, or pass \`model\`. Available: ${names || "none"}.`,
		);
	throw new AgentError(
		"no_model",
		`No model: the call gives none and preset "${preset.name}" has no default. Pass \`model\`, or add one to ${preset.path} (\`inherit\` takes the session's). Available: ${names || "none"}.`,
	);
}

/** An unavailable fallback is no reason to fail: another may exist, or the first model works. */
export function resolveFallbacks(
	{ preset, defaults, parent, facts }: ResolveInput,
	{ model, warnings }: { model: string; warnings: string[] },
): string[] {
	const found = new Set<string>();
	for (const wanted of preset.fallbackModels ?? []) {
		try {
			const fallback = matchModel(wanted, facts.models, parent.model?.provider).model;
			const problem = outOfScope(fallback, defaults, facts);
			// It was not chosen explicitly and there are others: leave it out if only enabled models may be used.
			if (problem === undefined || defaults.scope !== "deny") found.add(modelName(fallback));
			if (problem !== undefined) warnings.push(`A fallback of preset "${preset.name}": ${problem}`);
		} catch (error) {
			if (!(error instanceof AgentError)) throw error;
			warnings.push(`Preset "${preset.name}" names a fallback model that cannot be used: ${error.message}`);
		}
	}
	found.delete(model);
	return [...found];
}
