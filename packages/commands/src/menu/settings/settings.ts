/**
 * The settings level of the menu: every setting of the schema, for the user or a trusted project. A level like the
 * others, not pi-tui's `SettingsList`: that exists on a terminal only, and has no room for what each choice means and
 * where a value comes from.
 */
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import { readSmallFile } from "@pi-subagents/core/internal/files";
import { choicesOf, parseObject, type SettingsPlace, saveSettings, settingsPath } from "@pi-subagents/launch";
import type { Item } from "@pi-subagents/widget/dialogs";
import type { Menu } from "../../screen/navigation.ts";
import { breadcrumb, runMenu } from "../../screen/navigation.ts";
import { brokenFiles, fixFile, fixItem } from "./broken-files.ts";
import {
	allSettings,
	changeOf,
	choiceItems,
	originOf,
	type Setting,
	type SettingsLayers,
	settingItems,
	typedHint,
	typedValue,
	valueAt,
	valueText,
} from "./setting-items.ts";

type Scope = "user" | "project";

const TITLE = breadcrumb("Agents", "Settings");
const SCOPE = "(scope)";

export function settingsMenu(menu: Menu): Promise<void> {
	let scope: Scope = "user";
	return runMenu(
		menu.screen,
		async () => {
			const [layers, broken] = await Promise.all([readLayers(menu), brokenFiles(menu)]);
			const scopes = layers.project === undefined ? [] : [scopeItem(scope)];
			const items = [...broken.map(fixItem), ...scopes, ...settingItems(layers)];
			return { title: TITLE, intro: `Saved to ${pathFor(menu, scope)}`, items: () => items, isSearchable: true };
		},
		async (key) => {
			const broken = (await brokenFiles(menu)).find((file) => fixItem(file).value === key);
			if (broken) return fixFile(menu, broken);
			if (key === SCOPE) scope = scope === "user" ? "project" : "user";
			const setting = allSettings.find((each) => each.key === key);
			if (setting) await settingMenu(menu, setting, scope);
		},
	);
}

function scopeItem(scope: Scope): Item {
	return {
		value: SCOPE,
		label: "Set them for",
		tag: { text: scope === "user" ? "all projects" : "this project", tone: "accent" },
		about: "which file to change: yours, or this project's, which can narrow your limits",
	};
}

async function settingMenu(menu: Menu, setting: Setting, scope: Scope): Promise<void> {
	const { shape } = setting;
	if (shape.items && choicesOf(shape).length > 0) return severalMenu(menu, setting, scope);
	if (shape.patternProperties) return editJson(menu, setting, scope);
	if (shape.type === "boolean" || choicesOf(shape).length > 0) return choiceMenu(menu, setting, scope);
	return typeValue(menu, setting, scope);
}

const DEFAULT = "(default)";

async function choiceMenu(menu: Menu, setting: Setting, scope: Scope): Promise<void> {
	const { shape, title } = setting;
	const layers = await readLayers(menu);
	const value = valueAt(layers.effective, setting);
	const isSwitch = shape.type === "boolean";
	const items = isSwitch ? switchItems(value === true) : choiceItems(shape, [value]);
	const chosen = await menu.screen.choose({
		title: breadcrumb(TITLE, title),
		intro: shape.description?.replaceAll("`", ""),
		items: () => [...items, ...defaultItem(setting, layers, scope)],
		selected: String(value),
	});
	if (chosen === undefined) return;
	await save(menu, setting, scope, chosen === DEFAULT ? undefined : isSwitch ? chosen === "true" : chosen);
}

function switchItems(isOn: boolean): Item[] {
	return [true, false].map((value) => ({
		value: String(value),
		mark: { text: value === isOn ? "●" : "○", tone: value === isOn ? "good" : "muted" },
		label: value ? "On" : "Off",
	}));
}

/** Each choice toggles one value, until the user goes back. */
function severalMenu(menu: Menu, setting: Setting, scope: Scope): Promise<void> {
	const { shape, title } = setting;
	const current = async () => {
		const layers = await readLayers(menu);
		const value = valueAt(layers.effective, setting);
		return { layers, chosen: Array.isArray(value) ? value : [] };
	};
	return runMenu(
		menu.screen,
		async () => {
			const { layers, chosen } = await current();
			const items = [...choiceItems(shape, chosen), ...defaultItem(setting, layers, scope)];
			return { title: breadcrumb(TITLE, title), intro: shape.description, items: () => items };
		},
		async (name) => {
			const { chosen } = await current();
			const next = choicesOf(shape)
				.map((choice) => choice.const)
				.filter((each) => (each === name ? !chosen.includes(each) : chosen.includes(each)));
			await save(menu, setting, scope, name === DEFAULT ? undefined : next);
		},
	);
}

async function typeValue(menu: Menu, setting: Setting, scope: Scope): Promise<void> {
	const { shape, title } = setting;
	const layers = await readLayers(menu);
	const value = valueAt(layers.effective, setting);
	const intro = `${typedHint(shape)}\nEmpty: the default, ${valueText(shape, shape.default)}.`;
	let text = typeof value === "string" ? value : JSON.stringify(value);
	for (let fault: string | undefined; ; ) {
		const typed = await menu.screen.input({ title: breadcrumb(TITLE, title), intro, value: text, fault });
		if (typed === undefined) return;
		text = typed;
		try {
			return await save(menu, setting, scope, typed.trim() === "" ? undefined : typedValue(shape, typed));
		} catch (error) {
			fault = messageOf(error);
		}
	}
}

/** Objects are edited as JSON in the editor. */
async function editJson(menu: Menu, setting: Setting, scope: Scope): Promise<void> {
	const { screen } = menu;
	const layers = await readLayers(menu);
	const own = valueAt((scope === "user" ? layers.user : layers.project) ?? {}, setting) ?? {};
	let text = JSON.stringify(own, null, 2);
	for (;;) {
		const edited = await screen.edit(`${setting.title}: ${setting.shape.description?.replaceAll("`", "")}`, text);
		if (edited === undefined || edited.trim() === text.trim()) return;
		text = edited;
		try {
			const next = parseObject(edited.trim() === "" ? "{}" : edited);
			if (typeof next === "string") throw new Error(`This is ${next}.`);
			const removed = Object.fromEntries(Object.keys(own).map((name) => [name, undefined]));
			return await save(menu, setting, scope, { ...removed, ...next });
		} catch (error) {
			screen.notify(`${messageOf(error)} Fix it, or press Escape to cancel.`, "error");
		}
	}
}

function defaultItem(setting: Setting, layers: SettingsLayers, scope: Scope): Item[] {
	const own = scope === "user" ? layers.user : (layers.project ?? {});
	if (valueAt(own, setting) === undefined) return [];
	const { shape } = setting;
	return [
		{
			value: DEFAULT,
			mark: { text: "↺", tone: "muted" },
			label: "Not set here",
			about: `default: ${valueText(shape, shape.default)}`,
		},
	];
}

async function save(menu: Menu, setting: Setting, scope: Scope, value: unknown): Promise<void> {
	const { screen, launcher, ctx } = menu;
	await saveSettings({ ...placeOf(menu, scope), changes: changeOf(setting, value) });
	await launcher.settings(ctx); // listeners are notified now, not at the next launch
	const layers = await readLayers(menu);
	const counts = valueText(setting.shape, valueAt(layers.effective, setting));
	const isSaved = JSON.stringify(value) === JSON.stringify(valueAt(layers.effective, setting));
	const origin = originOf(setting, layers);
	const overruling =
		scope === "user" && origin === "project"
			? `this project sets it to ${counts}, which takes precedence here`
			: scope === "project" && origin !== "project" && value !== undefined && !isSaved
				? `your own settings allow less: ${counts} counts`
				: undefined;
	screen.notify(
		overruling === undefined ? `${setting.title}: ${counts}` : `${setting.title}: saved, but ${overruling}.`,
		overruling === undefined ? "info" : "warning",
	);
}

async function readLayers({ host, launcher, ctx }: Menu): Promise<SettingsLayers> {
	const { agentDir } = host;
	const isTrusted = host.storedTrust(ctx.cwd) === "yes";
	const [effective, user, project] = await Promise.all([
		launcher.settings(ctx),
		contentOf({ agentDir }),
		isTrusted ? contentOf({ project: ctx.cwd }) : undefined,
	]);
	return { effective, user, ...defined({ project }) };
}

/** A broken file counts as empty here; the list begins with a way to fix it. */
async function contentOf(place: SettingsPlace): Promise<Record<string, unknown>> {
	const text = await readSmallFile(settingsPath(place)).catch(() => undefined);
	const content = parseObject(text ?? "{}");
	return typeof content === "string" ? {} : content;
}

function placeOf({ host, ctx }: Menu, scope: Scope): SettingsPlace {
	return scope === "user" ? { agentDir: host.agentDir } : { project: ctx.cwd };
}

function pathFor(menu: Menu, scope: Scope): string {
	return settingsPath(placeOf(menu, scope));
}
