/** The entries of the user's session in which guards keep their state, added to the session file of a child's process. */

import { isObject } from "../../base/values.ts";
import type { GuardState } from "../../extensions/guards.ts";
import { parseJson } from "../../runs/read.ts";
import { missingEntries } from "../../session/history/guard-entries.ts";
import { sessionHeader } from "../../session/history/inherited.ts";
import { sessionText } from "../../session/history/session-text.ts";

interface Begun {
	cwd: string;
	/** Of the conversation, if it begins with these entries. */
	id: string;
	at: number;
}

/** The conversation with what is missing in it. Undefined if there is neither. */
export function withGuardEntries(
	conversation: string | Uint8Array | undefined,
	{ entries }: Pick<GuardState, "entries">,
	{ cwd, id, at }: Begun,
): string | Uint8Array | undefined {
	if (entries.length === 0) return conversation;
	const text =
		conversation === undefined
			? sessionText([sessionHeader({ cwd, id, at })])
			: typeof conversation === "string"
				? conversation
				: Buffer.from(conversation).toString("utf8");
	const lines = text.split("\n").filter((line) => line !== "");
	const present = lines
		.filter((line) => line.includes('"custom"'))
		.map(parseJson)
		.filter(isCustom);
	const last = parseJson(lines.at(-1) ?? "");
	let parentId = lines.length > 1 && isObject(last) && typeof last.id === "string" ? last.id : null;
	const added = missingEntries(present, entries).map(({ customType, data }) => {
		const entry = {
			type: "custom",
			id: crypto.randomUUID().slice(0, 8),
			parentId,
			timestamp: new Date(at).toISOString(),
			customType,
			data,
		};
		parentId = entry.id;
		return entry;
	});
	return added.length === 0 ? conversation : `${lines.join("\n")}\n${sessionText(added)}`;
}

function isCustom(entry: unknown): entry is { customType: string; data?: unknown } {
	return isObject(entry) && entry.type === "custom" && typeof entry.customType === "string";
}
