/** Presets that other extensions register while a session is open: in memory only, and gone with it. */
import { nameKey } from "@pi-subagents/core/internal/base";
import type { ParseResult } from "@pi-subagents/presets";

/** What is registered now. */
export interface RegisteredPresets {
	/** Grows with every change. */
	readonly version: number;
	/** Each has a preset; one per name. */
	readonly results: readonly ParseResult[];
	/** Files do not count: an extension registered its presets as the only ones. */
	readonly isExclusive: boolean;
}

export interface RuntimePresets {
	current(): RegisteredPresets;
	/** Returns the way to remove them, which removes nothing that came later. */
	register(registration: Registration): () => void;
}

export interface Registration {
	results: readonly ParseResult[];
	isExclusive?: boolean;
	/** A later registration of the same owner replaces this one. Absent: one that shares a name with it does. */
	owner?: string | undefined;
}

export const NO_REGISTERED_PRESETS: RegisteredPresets = { version: 0, results: [], isExclusive: false };

/**
 * @example
 * ```ts
 * const runtime = createRuntimePresets();
 * const remove = runtime.register({ results: [parseDefinition({ name: "scout", systemPrompt: "Be quick." })] });
 * const launcher = createLauncher({ ...host, registeredPresets: runtime.current });
 * ```
 */
export function createRuntimePresets(): RuntimePresets {
	let registrations: readonly Registration[] = [];
	let current = NO_REGISTERED_PRESETS;
	const change = (next: readonly Registration[]) => {
		registrations = next;
		const byName = new Map(next.flatMap(({ results }) => results.map((result) => [keyOf(result), result] as const)));
		const isExclusive = next.some((each) => each.isExclusive);
		current = { version: current.version + 1, results: [...byName.values()], isExclusive };
	};
	return {
		current: () => current,
		register(registration) {
			change([...registrations.filter((other) => !isReplaced(other, registration)), registration]);
			return () => {
				if (registrations.includes(registration)) change(registrations.filter((other) => other !== registration));
			};
		},
	};
}

function isReplaced(old: Registration, { owner, results }: Registration): boolean {
	if (old.owner !== owner) return false;
	if (owner !== undefined) return true;
	const names = new Set(results.map(keyOf));
	return old.results.length === 0 ? results.length === 0 : old.results.some((result) => names.has(keyOf(result)));
}

function keyOf({ preset }: ParseResult): string {
	return nameKey(preset?.name ?? "");
}
