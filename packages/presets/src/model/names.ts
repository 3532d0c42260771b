/** Which names a preset may have. Names become map keys, file names and command-line arguments, so the rules are strict. */
import { quote } from "./text.ts";

const shape = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u;
const maxLength = 64;
// `subagents: none` must never mean a preset, and an object key must never hit a prototype.
const reserved = new Set(
	["all", "none", "prototype", ...Object.getOwnPropertyNames(Object.prototype)].map((name) => name.toLowerCase()),
);

/** The form in which a name is stored and shown. */
export function normalName(name: string): string {
	return name.normalize("NFC");
}

/** Names with equal keys mean the same preset. */
export function nameKey(name: string): string {
	return normalName(name).toLowerCase();
}

/** Why this cannot be the name of a preset; `undefined` when it can. */
export function nameFault(name: string): string | undefined {
	if (name === "") return "the name is empty: write one, such as `name: repo-scout`";
	if (name.length > maxLength) return `the name has ${name.length} characters: use at most ${maxLength}`;
	const invisible = invisibleIn(name);
	if (invisible !== undefined)
		return `the name ${quote(name)} contains an invisible character, ${invisible}: remove it, because the name looks like another one`;
	if (reserved.has(nameKey(name))) return `the name ${quote(name)} is reserved: choose another`;
	if (shape.test(name)) return undefined;
	return `the name ${quote(name)} is not allowed: use letters, digits, ".", "_" and "-", and start with a letter or digit`;
}

/**
 * Adapts a written name to the rules: `Code Reviewer` becomes `Code-Reviewer`. `undefined` when nothing valid is left, and
 * for text with control characters or that looks like a path.
 *
 * @example
 * usableName("Code Reviewer"); // "Code-Reviewer"
 */
export function usableName(written: string): string | undefined {
	if (/\p{C}|\.\.|[\\/]|^\s*\./u.test(written)) return undefined;
	const name = written
		.normalize("NFC")
		.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "-")
		.replace(/^[^\p{L}\p{N}]+/u, "")
		.slice(0, maxLength)
		.replace(/-$/, "");
	return nameFault(name) === undefined ? name : undefined;
}

/** The first invisible character, as `U+200B`. Unicode counts some of them as letters or marks. */
function invisibleIn(name: string): string | undefined {
	const [found] = /\p{Default_Ignorable_Code_Point}/u.exec(name) ?? [];
	return found && `U+${found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The file name without its directory and `.md`, on any system. */
export function fileStem(path: string): string {
	const file = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
	return normalName(file.replace(/\.md$/i, ""));
}
