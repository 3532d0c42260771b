/**
 * The `model` parameter of the tools that launch. Few models are named in it, many would crowd every request. Other
 * texts pass, too: a name that is nearly right is understood, and one that is wrong gets an error that lists the right
 * ones, which pi's own check would not.
 */
import { type TOptional, type TUnsafe, Type } from "typebox";

const MOST_NAMED = 12;

export type ModelParameter = TOptional<TUnsafe<string>>;

/** `names` are the models that can be used, as provider/id. */
export function modelParameter(names: readonly string[]): ModelParameter {
	const choices = [...new Set(names)];
	const isShort = choices.length > 0 && choices.length <= MOST_NAMED;
	return Type.Optional(
		Type.Unsafe<string>(
			isShort
				? { anyOf: [{ enum: choices }, { type: "string" }], description: "Instead of the preset's" }
				: { type: "string", description: "provider/id from list_models, instead of the preset's" },
		),
	);
}
