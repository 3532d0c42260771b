/** The settings as menu items, each with its value and origin. Pure. */

import { isObject } from "@pi-subagents/core/internal/base";
import type { Settings } from "@pi-subagents/launch";
import { choicesOf, expected, type Shape, settingsShape } from "@pi-subagents/launch";
import { formatCount } from "@pi-subagents/progress";
import type { Item } from "@pi-subagents/widget/dialogs";

/** One value that can be set on its own. */
export interface Setting {
	/** The dotted path, such as `retention.days`. */
	key: string;
	path: readonly string[];
	title: string;
	shape: Shape;
}

/** The effective settings and the files they come from. */
export interface SettingsLayers {
	effective: Settings;
	/** The user's own `subagents.json`. */
	user: Readonly<Record<string, unknown>>;
	/** The project's file; absent unless the user trusts the project. */
	project?: Readonly<Record<string, unknown>>;
}

export const allSettings: readonly Setting[] = settingsOf(settingsShape, [], "");

function settingsOf({ properties = {} }: Shape, path: readonly string[], group: string): Setting[] {
	return Object.entries(properties).flatMap(([name, shape]) => {
		const own = [...path, name];
		const title = shape.title ?? name;
		if (shape.properties) return settingsOf(shape, own, `${title}: `);
		return [{ key: own.join("."), path: own, title: group === "" ? title : group + title.toLowerCase(), shape }];
	});
}

export function settingItems(layers: SettingsLayers): Item[] {
	return allSettings.map((setting) => {
		const { key, title, shape } = setting;
		const origin = originOf(setting, layers);
		return {
			value: key,
			label: title,
			tag: {
				text: valueText(shape, valueAt(layers.effective, setting)),
				tone: origin === "default" ? "muted" : "good",
			},
			about: `${origin === "default" ? "" : `(${ORIGINS[origin]}) `}${plain(shape.description)}`,
		};
	});
}

type Origin = "default" | "user" | "project" | "both" | "elsewhere";

const ORIGINS: Record<Exclude<Origin, "default">, string> = {
	user: "yours",
	project: "this project's",
	both: "yours and this project's",
	elsewhere: "pi's settings.json",
};

/**
 * Whose value applies: a project's does not widen the user's. A non-default value that is in neither of our files comes
 * from pi's settings.json.
 */
export function originOf(setting: Setting, { effective, user, project = {} }: SettingsLayers): Origin {
	const counts = (value: unknown) => JSON.stringify(value) === JSON.stringify(valueAt(effective, setting));
	const [own, projects] = [valueAt(user, setting), valueAt(project, setting)];
	if (own !== undefined && projects !== undefined) {
		const owners = (["project", "user"] as const).filter((who) => counts(who === "user" ? own : projects));
		return owners[0] ?? "both";
	}
	if (projects !== undefined) return counts(projects) ? "project" : "elsewhere";
	if (own !== undefined) return "user";
	return counts(setting.shape.default) ? "default" : "elsewhere";
}

export function valueAt(values: object, { path }: Pick<Setting, "path">): unknown {
	return path.reduce<unknown>(
		(value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
		values,
	);
}

/** The format of `saveSettings`. */
export function changeOf({ path }: Setting, value: unknown): object {
	return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}

export function valueText(shape: Shape, value: unknown): string {
	if (typeof value === "boolean") return value ? "on" : "off";
	if (Array.isArray(value)) {
		const isChoice = choicesOf(shape).length > 0;
		return value.map((each) => (isChoice ? choiceLabel(each) : String(each))).join(", ") || "none";
	}
	if (isObject(value)) return Object.keys(value).length === 0 ? "none" : recordText(value);
	if (value === "") return "none";
	if (value === 0) return NO_LIMIT.exec(shape.description ?? "")?.[1] ?? "0";
	return choicesOf(shape).length > 0 ? choiceLabel(value) : String(value);
}

/** The description in the schema says where 0 means no limit. */
const NO_LIMIT = /\b0 is (no limit)/;

function recordText(value: Record<string, unknown>): string {
	const entries = Object.entries(value);
	const isPlain = entries.every(([, each]) => typeof each === "number");
	return isPlain ? entries.map(([name, each]) => `${name} ${each}`).join(", ") : formatCount(entries.length, "preset");
}

/** The allowed values with their descriptions. */
export function choiceItems(shape: Shape, chosen: readonly unknown[]): Item[] {
	return choicesOf(shape).map(({ const: value, description }) => ({
		value: String(value),
		mark: { text: chosen.includes(value) ? "●" : "○", tone: chosen.includes(value) ? "good" : "muted" },
		label: choiceLabel(value),
		about: plain(description),
	}));
}

/** Labels that differ from the value itself. */
const CHOICE_LABELS = new Map<unknown, string>([
	["rich", "Rich tree"],
	["compact", "Compact tree"],
	["claude", "Claude Code"],
	["opencode", "OpenCode"],
]);

function choiceLabel(value: unknown): string {
	const name = String(value);
	return CHOICE_LABELS.get(value) ?? name.charAt(0).toUpperCase() + name.slice(1);
}

function plain(text = ""): string {
	return text.replaceAll("`", "");
}

export function typedHint({ description, ...shape }: Shape): string {
	return `${plain(description)}\nExpected: ${expected(shape)}.`;
}

/** Parses the input. Invalid JSON stays a string, and saving reports it. */
export function typedValue({ type }: Shape, text: string): unknown {
	if (type === "string") return text.trim();
	try {
		return JSON.parse(text);
	} catch {
		return text.trim();
	}
}
