/**
 * Parameters that several tools share.
 *
 * The `model` parameter of the tools that launch. It names a few models; many would enlarge every request. Other texts
 * pass, too: a name that is nearly right is understood, and one that is wrong gets an error that lists the right ones,
 * which pi's own check would not.
 */
import { type TOptional, type TUnsafe, Type } from "typebox";

const MAX_NAMED = 12;
/** Of all names together: several tools name them. */
const MAX_CHARACTERS = 150;

export type ModelParameter = TOptional<TUnsafe<string>>;

/** `names` are the models that can be used, as provider/id. `hasList`: the caller also has `list_models`. */
export function modelParameter(names: readonly string[], { hasList }: { hasList: boolean }): ModelParameter {
	const choices = [...new Set(names)];
	const isFew = choices.length > 0 && choices.length <= MAX_NAMED && choices.join("").length <= MAX_CHARACTERS;
	const name = hasList ? "provider/id from list_models" : "provider/id";
	return Type.Optional(
		Type.Unsafe<string>(
			isFew
				? { anyOf: [{ enum: choices }, { type: "string" }], description: "Instead of the preset's" }
				: { type: "string", description: `${name}, instead of the preset's` },
		),
	);
}

/** Of their names together. An unknown one gets an error that lists them all. */
const MAX_MACHINES = 60;

const machine = { machine: Type.Optional(Type.String()) };
const retry = { retry: Type.Optional(Type.Literal("lost")) };

export type MachineParameter = typeof machine;

/** Where an agent runs, only if the user has other machines. */
export function machineOffered(names: readonly string[]): MachineParameter {
	return names.length > 0 ? machine : ({} as MachineParameter);
}

/** The same for the tool that says what there is, and what happens if a machine loses the agent. */
export function machinesListed(names: readonly string[]): MachineParameter & typeof retry {
	if (names.length === 0) return {} as MachineParameter & typeof retry;
	const text = ["here", ...names].join(", ");
	const description = text.length > MAX_MACHINES ? `${text.slice(0, MAX_MACHINES - 1)}…` : text;
	return { machine: Type.Optional(Type.String({ description })), ...retry };
}

const verify = {
	verify: Type.Optional(
		Type.Unsafe<unknown>({
			type: ["string", "array", "object"],
			description: "Command that must pass when it is done",
		}),
	),
};

export type VerifyParameter = typeof verify;

/** The `verify` parameter, only where the user has allowed it: every parameter costs each request. */
export function verifyOffered({ hasVerify }: { hasVerify: boolean }): VerifyParameter {
	return hasVerify ? verify : ({} as VerifyParameter);
}
