/** Changes settings in one of our files and leaves all else in it as it was. */
import { isObject, messageOf } from "@pi-subagents/core/internal/base";
import { editSmallFile } from "@pi-subagents/core/internal/files";
import { type SettingsPlace, settingsPath } from "./config.ts";
import type { Settings } from "./schema.ts";
import { parseObject, usable } from "./settings.ts";
import { isGroup, nameOf, partOf, type Shape, settingsShape } from "./shape.ts";

/** `undefined` takes a setting out of the file. `retention` and `agentOverrides` are changed entry by entry. */
type SettingsChanges = {
	[Key in keyof Settings]?:
		| (Key extends "retention" | "agentOverrides"
				? { [Entry in keyof Settings[Key]]?: Settings[Key][Entry] | undefined }
				: Settings[Key])
		| undefined;
};

interface SavedSettings {
	/** The file, with links followed. */
	path: string;
	/** All that it holds now. */
	content: Readonly<Record<string, unknown>>;
}

/** Throws, and saves nothing, when a change is not a valid setting or the file is not one that can be changed safely. */
export async function saveSettings(options: SettingsPlace & { changes: SettingsChanges }): Promise<SavedSettings> {
	const path = settingsPath(options);
	try {
		refuseBad(options.changes);
		let content: Record<string, unknown> = {};
		const target = await editSmallFile(path, (text) => {
			const before = text === undefined ? {} : parsed(text);
			content = changed(settingsShape, before, options.changes);
			const isChanged = text === undefined || JSON.stringify(content) !== JSON.stringify(before);
			return isChanged ? format(content, text) : text;
		});
		return { path: target, content };
	} catch (error) {
		throw new Error(`The settings were not saved to ${path}: ${messageOf(error)}`, { cause: error });
	}
}

function refuseBad(changes: SettingsChanges): void {
	const { complaints } = usable(changed(settingsShape, {}, changes));
	if (complaints.length > 0) throw new Error(complaints.map(({ text }) => text).join("; "));
}

function parsed(text: string): Record<string, unknown> {
	const content = parseObject(text);
	if (typeof content === "string") throw new Error(`the file is ${content}; fix it first. It was not changed`);
	return content;
}

/** Known keys keep their place and spelling, new ones come last. */
function changed(shape: Shape, content: unknown, changes: object): Record<string, unknown> {
	const entries = new Map(isObject(content) ? Object.entries(content) : []);
	for (const [name, value] of Object.entries(changes)) {
		const key = [...entries.keys()].find((other) => nameOf(shape, other) === nameOf(shape, name)) ?? name;
		const part = partOf(shape, name);
		const isEdit = part !== undefined && isGroup(part) && isObject(value);
		const next: unknown = isEdit ? changed(part, entries.get(key), value) : value;
		if (next === undefined || (isEdit && Object.keys(next as object).length === 0)) entries.delete(key);
		else entries.set(key, next);
	}
	return Object.fromEntries(entries);
}

/** Indented like the file was. */
function format(content: object, before: string | undefined): string {
	const indent = /^[\t ]+(?=")/m.exec(before ?? "")?.[0] ?? "\t";
	return `${JSON.stringify(content, null, indent)}\n`;
}
