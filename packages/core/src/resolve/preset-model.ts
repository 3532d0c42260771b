/**
 * The model of a preset, from those available. A file that names an unavailable model should still work: it may name
 * fallbacks, and one written for another program knew other providers. Pure.
 */
import { AgentError, quoted } from "../base/error.ts";
import type { ParentFields, PresetFields } from "./input.ts";
import { type ModelFact, type ModelMatch, matchModel, modelName, nearestModel } from "./models.ts";

export interface PresetModel {
	/** When absent, the session's model is used. */
	match?: ModelMatch;
	/** Set if another model is used than the preset names. */
	warning?: string;
}

type Asking = Pick<PresetFields, "name" | "source" | "fallbackModels">;

/** `wanted` is what the preset itself names. Throws what `matchModel` throws. */
export function matchPresetModel(
	wanted: string,
	preset: Asking,
	models: readonly ModelFact[],
	parent: ParentFields,
): PresetModel {
	const provider = parent.model?.provider;
	try {
		return { match: matchModel(wanted, models, provider) };
	} catch (error) {
		if (!(error instanceof AgentError)) throw error;
		const isImported = preset.source.kind === "import";
		const match =
			firstOf(preset.fallbackModels ?? [], models, provider) ??
			(isImported ? nearestModel(wanted, models, provider) : undefined);
		const asks = `Preset "${preset.name}" asks for the model ${quoted(wanted)}, which is not available here`;
		if (match) return { match, warning: `${asks}; ${modelName(match.model)} is used.` };
		if (!isImported || !parent.model) throw error;
		return { warning: `${asks}; the session's model is used: ${modelName(parent.model)}.` };
	}
}

function firstOf(names: readonly string[], models: readonly ModelFact[], provider?: string): ModelMatch | undefined {
	for (const name of names) {
		try {
			return matchModel(name, models, provider);
		} catch (error) {
			if (!(error instanceof AgentError)) throw error; // try the next one
		}
	}
	return undefined;
}
