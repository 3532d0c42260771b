/** Which value counts where call, settings, preset and parent each have one, and which need the user's trust. Pure. */
import type { ResolvedField, SpecOrigin } from "../model/schema/spec.ts";
import type { PresetFields, ResolveInput, Tunable } from "./input.ts";

/** Picks each field from the first layer that sets it, and remembers which. */
export function layersOf({ request, preset, defaults, parent }: ResolveInput, warnings: string[]) {
	const origins: Partial<Record<ResolvedField, SpecOrigin>> = {};
	const locked = new Set(preset.locked);
	const layers: [SpecOrigin, Tunable][] = [
		["settings", defaults.override ?? {}],
		["preset", preset],
		["default", defaults],
		["parent", { thinking: parent.thinking }],
	];
	const note = (field: ResolvedField, origin: SpecOrigin) => {
		origins[field] = origin;
	};
	/** `fromModel` comes from a name like `provider/id:high`: as strong as that name. */
	const pick = <K extends keyof Tunable & ResolvedField>(field: K, fromModel?: Tunable[K]): Tunable[K] | undefined => {
		const called = isBlank(request[field]) ? undefined : request[field]; // models tend to fill in optional fields
		if (called !== undefined && locked.has(field)) {
			warnings.push(`Preset "${preset.name}" locks \`${field}\`, so the call's value was not used.`);
		} else if (called !== undefined) {
			note(field, "call");
			return called;
		}
		if (fromModel !== undefined) {
			note(field, origins.model ?? "default");
			return fromModel;
		}
		const layer = layers.find(([, values]) => values[field] !== undefined);
		if (layer) note(field, layer[0]);
		return layer?.[1][field];
	};
	/** For fields that only the call and the preset have. */
	const choose = <T>(field: string, called: T | undefined, set: T | undefined): T | undefined => {
		if (called === undefined || !locked.has(field)) return called ?? set;
		warnings.push(`Preset "${preset.name}" locks \`${field}\`, so the call's value was not used.`);
		return set;
	};
	return { pick, choose, note, origins, warnings };
}

export type Layers = ReturnType<typeof layersOf>;

function isBlank(value: unknown): boolean {
	return typeof value === "string" && value.trim() === "";
}

/** Fields that decide what is executed: in a project's file they count only if the user trusts the project. */
const NEEDS_TRUST = ["runner", "machine", "extensions", "skills", "memory", "verify", "worktree"] as const;

/** A stranger may have written a project's files: until the user trusts it, they do not decide what is executed. */
export function withoutUntrusted({ preset, facts, defaults }: ResolveInput): {
	allowed: PresetFields;
	warnings: string[];
	/** Its `verify` does not count. */
	isUnverified: boolean;
} {
	if (!preset.source.inProject || facts.isProjectTrusted) return { allowed: preset, warnings: [], isUnverified: false };
	const override: Partial<PresetFields> = defaults.override ?? {};
	const isUntouched = (field: (typeof NEEDS_TRUST)[number]) => override[field] === undefined;
	/** `false` loads nothing and needs no trust. */
	const asks = (field: (typeof NEEDS_TRUST)[number]) => preset[field] !== undefined && preset[field] !== false;
	const asked = NEEDS_TRUST.filter((field) => asks(field) && isUntouched(field));
	const others = Object.entries(preset).filter(([field]) => !asked.some((each) => each === field));
	// Without its list it would have all skills: more than it names.
	const isNarrower = asked.includes("skills") && Array.isArray(preset.skills);
	const allowed = Object.fromEntries(isNarrower ? [...others, ["skills", false]] : others);
	const warning = `Preset "${preset.name}" sets ${asked.join(", ")}; that counts only in a project you have trusted.`;
	return {
		allowed: allowed as unknown as PresetFields,
		warnings: asked.length > 0 ? [warning] : [],
		isUnverified: asked.includes("verify"),
	};
}
