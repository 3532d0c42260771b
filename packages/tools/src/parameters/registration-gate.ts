/** Whether the tools must be registered, or registered again: their parameters list the available models. */
import { type ModelFact, modelName } from "@pi-subagents/core";

/** `none`: there is no model yet, so there is nothing to offer. */
type GateAnswer = "register" | "unchanged" | "none";

/**
 * Asked whenever the models may have changed. Their order does not matter: registering a tool again costs the model its
 * cached prompt. Tools stay when all models vanish, since an error explains more than a tool that is gone.
 */
export function createRegistrationGate(): (models: readonly Pick<ModelFact, "provider" | "id">[]) => GateAnswer {
	let registered: ReadonlySet<string> | undefined;
	return (models) => {
		const names = new Set(models.map(modelName));
		if (names.size === 0) return registered ? "unchanged" : "none";
		const isSame = registered?.size === names.size && [...names].every((name) => registered?.has(name));
		if (isSame) return "unchanged";
		registered = names;
		return "register";
	};
}
