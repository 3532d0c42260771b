/** What callers say about a preset file, completed and checked: they may write JavaScript. */
import type { Flavour, PresetSource, SourceKind } from "../model/preset.ts";
import type { ParseContext } from "./reader.ts";

export interface ParseOptions extends Omit<ParseContext, "source"> {
	/**
	 * Where the text comes from: all of it, or only the kind. When absent, the project that the agent works on, whose
	 * author may not be trusted. Imports name their flavour.
	 */
	readonly source?: Exclude<SourceKind, "import"> | (Partial<PresetSource> & Pick<PresetSource, "kind">);
}

const KINDS: readonly unknown[] = [
	"builtin",
	"package",
	"runtime",
	"import",
	"global",
	"project",
] satisfies SourceKind[];
const FLAVOURS: readonly unknown[] = ["subagents", "agents", "claude", "opencode"] satisfies Flavour[];

/** Throws a `TypeError` that names the argument. */
export function contextOf(options: ParseOptions): ParseContext {
	const { source = "project", ...rest } = options ?? {};
	if (typeof rest.path !== "string") throw new TypeError(`path must be a string, not ${typeof rest.path}.`);
	return { ...rest, source: sourceOf(source) };
}

function sourceOf(given: NonNullable<ParseOptions["source"]>): PresetSource {
	const source = typeof given === "string" ? { kind: given } : given;
	const { kind, inProject = kind === "project" } = source ?? {};
	if (!KINDS.includes(kind))
		throw new TypeError(`source must be one of ${KINDS.join(", ")}, or an object with such a kind.`);
	const flavour = source.flavour ?? (kind === "import" ? undefined : "subagents");
	if (flavour === undefined || !FLAVOURS.includes(flavour))
		throw new TypeError(`source.flavour must be one of ${FLAVOURS.join(", ")}.`);
	return { kind, flavour, inProject };
}
