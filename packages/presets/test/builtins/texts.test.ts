/** The built-in presets are markdown files that people can read; the code that is bundled holds the same texts. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const dir = new URL("../../builtins/", import.meta.url);

test("the code holds what the built-in files say (run with --update after a change)", async () => {
	const names = readdirSync(dir).sort((one, other) => one.localeCompare(other, "en"));
	const entries = names.map((name) => {
		const text = readFileSync(new URL(encodeURIComponent(name), dir), "utf8");
		return `\t{\n\t\tpath: ${JSON.stringify(`builtin:${name}`)},\n\t\ttext: \`${escaped(text)}\`,\n\t},\n`;
	});
	await expect(`${HEAD}${entries.join("")}];\n`).toMatchFileSnapshot("../../src/builtins/texts.ts");
});

const HEAD = `/** Written from \`builtins/*.md\` by the test of this file, so that the texts survive bundling. Change those files instead. */
import type { KnownFile } from "../model/preset.ts";

/** Every built-in. None of them names a model. */
export const builtinFiles: readonly KnownFile[] = [
`;

function escaped(text: string): string {
	return text.replace(/[`\\]|\$\{/g, (found) => `\\${found}`);
}
