/**
 * Everything the user can set, with its default, its bounds and the words for it. From this one schema come the checks,
 * the type, `docs/settings.md`, the file that editors complete from, and the entries of a menu, all in this order.
 */
import { type Static, Type } from "typebox";
import { amount } from "./schema/kinds.ts";
import { launchSettings } from "./schema/launches.ts";
import { limitSettings } from "./schema/limits.ts";
import { resultSettings } from "./schema/results.ts";
import { runnerSettings } from "./schema/runners.ts";
import { userSettings } from "./schema/user.ts";

export const settingsSchema = Type.Object({
	...limitSettings,
	...runnerSettings,
	...resultSettings,
	...launchSettings,
	...userSettings,
	retention: Type.Object(
		{
			days: amount(36_500, {
				title: "Days",
				description: "For how many days; 0 is no limit.",
				default: 14,
				limit: "none",
			}),
			megabytes: amount(1_000_000, {
				title: "Megabytes",
				description: "How much in all, the newest first; 0 is no limit.",
				default: 500,
				limit: "none",
			}),
		},
		{ title: "Retention", description: "How long the files of settled runs are kept." },
	),
	agentOverrides: Type.Record(Type.String(), Type.Unsafe<Record<string, unknown>>({ type: "object" }), {
		title: "Overrides",
		description: 'Fields that replace those of a preset, by its name: `{ "Explore": { "model": "haiku" } }`.',
		default: {},
		limit: "fields",
	}),
});

/** Shared by all readers, so it is immutable. */
export type Settings = Frozen<Static<typeof settingsSchema>>;

type Frozen<Value> = Value extends object ? { readonly [Key in keyof Value]: Frozen<Value[Key]> } : Value;
