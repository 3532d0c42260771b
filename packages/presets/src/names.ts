/** Which names a preset may have. Names become map keys, file names and words of a command line, so they are strict. */
import { quote } from "./text.ts";

const shape = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u;
const maxLength = 64;
// `subagents: none` must never mean a preset, and an object key must never hit a prototype.
const reserved = new Set(
	["all", "none", "prototype", ...Object.getOwnPropertyNames(Object.prototype)].map((name) => name.toLowerCase()),
);

/** Two names are the same preset when their keys are equal. */
export function nameKey(name: string): string {
	return name.normalize("NFC").toLowerCase();
}

/** Why this cannot be a preset's name, or nothing when it can. */
export function nameFault(name: string): string | undefined {
	if (name === "") return "the name is empty: write one, such as `name: repo-scout`";
	if (name.length > maxLength) return `the name has ${name.length} characters: use at most ${maxLength}`;
	if (reserved.has(nameKey(name))) return `the name ${quote(name)} is reserved: choose another`;
	if (shape.test(name)) return undefined;
	return `the name ${quote(name)} is not allowed: use letters, digits, ".", "_" and "-", and begin with a letter or digit`;
}

/** The name that a file's name gives, on any system. */
export function fileStem(path: string): string {
	const file = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
	return file.replace(/\.md$/i, "").normalize("NFC");
}
