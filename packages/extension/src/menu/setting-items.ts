/** The settings as things to choose, each with its value and whose it is. Pure. */
import { formatCount } from "@pi-subagents/progress";
import { isObject } from "../settings.ts";
import type { Settings } from "../settings-schema.ts";
import { choicesOf, expected, type Shape, settingsShape } from "../settings-shape.ts";
import type { Item } from "./screen.ts";

/** One value that can be set by itself. */
export interface Setting {
	/** Where it stands, such as `retention.days`. */
	key: string;
	path: readonly string[];
	title: string;
	shape: Shape;
}

/** What the files that a person edits hold, as far as they count here. */
export interface SettingsLayers {
	effective: Settings;
	/** The user's own `subagents.json`. */
	user: Readonly<Record<string, unknown>>;
	/** That of the project; none where the user has not said that they trust it. */
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

type Origin = "default" | "user" | "project" | "elsewhere";

const ORIGINS: Record<Exclude<Origin, "default">, string> = {
	user: "yours",
	project: "this project's",
	elsewhere: "pi's settings.json",
};

/** Whose value counts. What differs from the default without any of our two files was set in pi's own. */
export function originOf(setting: Setting, { effective, user, project = {} }: SettingsLayers): Origin {
	if (valueAt(project, setting) !== undefined) return "project";
	if (valueAt(user, setting) !== undefined) return "user";
	const isDefault = JSON.stringify(valueAt(effective, setting)) === JSON.stringify(setting.shape.default);
	return isDefault ? "default" : "elsewhere";
}

export function valueAt(values: object, { path }: Pick<Setting, "path">): unknown {
	return path.reduce<unknown>(
		(value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
		values,
	);
}

/** As `saveSettings` takes it. */
export function changeOf({ path }: Setting, value: unknown): object {
	return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}

export function valueText(shape: Shape, value: unknown): string {
	if (typeof value === "boolean") return value ? "on" : "off";
	if (Array.isArray(value)) return value.map((each) => choiceLabel(each)).join(", ") || "none";
	if (isObject(value)) return Object.keys(value).length === 0 ? "none" : recordText(value);
	if (value === "") return "none";
	if (value === 0) return NO_LIMIT.exec(shape.description ?? "")?.[1] ?? "0";
	return choicesOf(shape).length > 0 ? choiceLabel(value) : String(value);
}

/** The schema says in words where 0 is not a number of something. */
const NO_LIMIT = /\b0 is (no limit)/;

function recordText(value: Record<string, unknown>): string {
	const entries = Object.entries(value);
	const isPlain = entries.every(([, each]) => typeof each === "number");
	return isPlain ? entries.map(([name, each]) => `${name} ${each}`).join(", ") : formatCount(entries.length, "preset");
}

/** The values to choose from, each with what it means. */
export function choiceItems(shape: Shape, chosen: readonly unknown[]): Item[] {
	return choicesOf(shape).map(({ const: value, description }) => ({
		value: String(value),
		mark: { text: chosen.includes(value) ? "●" : "○", tone: chosen.includes(value) ? "good" : "muted" },
		label: choiceLabel(value),
		about: plain(description),
	}));
}

/** What people call it; most are called what they are. */
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

/** Without the marks that only a document shows as such. */
function plain(text = ""): string {
	return text.replaceAll("`", "");
}

/** What may be typed. */
export function typedHint({ description, ...shape }: Shape): string {
	return `${plain(description)}\nExpected: ${expected(shape)}.`;
}

/** What was typed, as a value. What is not JSON is left for the check that comes with saving. */
export function typedValue({ type }: Shape, text: string): unknown {
	if (type === "string") return text.trim();
	try {
		return JSON.parse(text);
	} catch {
		return text.trim();
	}
}
