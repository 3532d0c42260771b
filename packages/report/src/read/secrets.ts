/** The secrets that this machine knows: keys in the environment, in pi's `auth.json` and in its `models.json`. */
import { readSmallFile } from "@pi-subagents/core/internal/files";

/** Variables with such names hold secrets, whatever program they are for. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|BEARER|PRIVATE|DSN$|CONNECTION_?STRING/i;

/** In any variable: the password of an address, such as that of a database. */
const PASSWORD_IN_URL = /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/gi;

/** Nested deeper there are no keys. */
const MAX_DEPTH = 10;

export interface SecretSources {
	env?: Readonly<Record<string, string | undefined>>;
	/** pi's `auth.json`. */
	authFile?: string;
	/** pi's `models.json`: values that are named like keys. */
	modelsFile?: string;
}

/**
 * @example
 * ```ts
 * const secrets = await knownSecrets({ env: process.env, authFile: join(agentDir, "auth.json") });
 * ```
 */
export async function knownSecrets({ env = {}, authFile, modelsFile }: SecretSources): Promise<string[]> {
	const inEnv = Object.entries(env).flatMap(([name, value = ""]) => [
		...(SECRET_NAME.test(name) ? [value, ...partsOf(value)] : []),
		...[...value.matchAll(PASSWORD_IN_URL)].flatMap(([, password = ""]) => [password, unescaped(password)]),
	]);
	const inFiles = [
		...(authFile === undefined ? [] : await secretsInFile(authFile)),
		...(modelsFile === undefined ? [] : await namedIn(modelsFile)),
	];
	return [...new Set([...inEnv, ...inFiles])].filter((secret) => secret !== "");
}

/** A variable may hold a whole JSON file, of which an agent repeats a part; or a name and a password. */
function partsOf(value: string): string[] {
	const password = /^[^\s:/@]{1,100}:([^\s:/]{8,})$/.exec(value.trim())?.[1];
	if (password !== undefined) return [password];
	if (!/^\s*[[{]/.test(value)) return [];
	try {
		return textsIn(JSON.parse(value), 0).filter((text) => text.length >= SHORTEST_PART);
	} catch (error) {
		if (error instanceof SyntaxError) return [];
		throw error;
	}
}

/** Shorter values in JSON are often ordinary words. */
const SHORTEST_PART = 16;

function unescaped(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch (error) {
		if (error instanceof URIError) return text;
		throw error;
	}
}

/** A key may also be the name of a variable, or a command; these are no secrets. */
async function namedIn(path: string): Promise<string[]> {
	const text = await readSmallFile(path);
	if (text === undefined) return [];
	try {
		return named(JSON.parse(text), 0).filter((value) => !/^!|^\$?\{?[A-Z][A-Z0-9_]*\}?$/.test(value));
	} catch (error) {
		if (error instanceof SyntaxError) return []; // pi says what is wrong with it
		throw error;
	}
}

function named(value: unknown, depth: number): string[] {
	if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return [];
	return Object.entries(value).flatMap(([name, each]) =>
		SECRET_NAME.test(name) ? textsIn(each, depth + 1) : named(each, depth + 1),
	);
}

/** A file that is not JSON is masked line by line: better too much than too little. */
async function secretsInFile(path: string): Promise<string[]> {
	const text = await readSmallFile(path);
	if (text === undefined) return [];
	try {
		return textsIn(JSON.parse(text), 0);
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		return text.split("\n").map((line) => line.trim());
	}
}

/** Every text in it, except the kinds of credentials, which are ordinary words. */
function textsIn(value: unknown, depth: number): string[] {
	if (typeof value === "string") return [value];
	if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return [];
	return Object.entries(value).flatMap(([key, each]) => (key === "type" ? [] : textsIn(each, depth + 1)));
}
