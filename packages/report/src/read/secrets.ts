/** The secrets that this machine knows: keys in the environment and in pi's `auth.json`. */
import { readSmallFile } from "@pi-subagents/core/files";

/** Variables with such names hold secrets, whatever program they are for. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE/i;

/** Nested deeper there are no keys. */
const MAX_DEPTH = 10;

export interface SecretSources {
	env?: Readonly<Record<string, string | undefined>>;
	/** pi's `auth.json`. */
	authFile?: string;
}

/**
 * @example
 * ```ts
 * const secrets = await knownSecrets({ env: process.env, authFile: join(agentDir, "auth.json") });
 * ```
 */
export async function knownSecrets({ env = {}, authFile }: SecretSources): Promise<string[]> {
	const named = Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) && value ? [value] : []));
	return [...named, ...(authFile === undefined ? [] : await secretsInFile(authFile))];
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
