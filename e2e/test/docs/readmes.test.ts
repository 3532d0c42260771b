/**
 * Every published package has a short README that opens with an example and what it prints. `packages-alone.test.ts` runs
 * each of them as it stands, from the packed tarball.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const packages = join(dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))), "packages");
const firstBlock = (readme: string, language: string) =>
	new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(readme)?.[1];

/** People use the extension, not code; and the example of presets reads the user's directories, so it is run in that package. */
const withoutOutput = new Set(["extension", "presets"]);

/** Private packages have no users outside of this repository, so their READMEs need no example. */
const published = readdirSync(packages).filter(
	(name) => !JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")).private,
);

test.each(published)("%s", (name) => {
	const file = join(packages, name, "README.md");
	expect(existsSync(file), "has a README").toBe(true);
	const readme = readFileSync(file, "utf8");
	expect(readme.split("\n").length, "is short").toBeLessThanOrEqual(80);
	expect(firstBlock(readme, name === "extension" ? "markdown" : "ts"), "opens with an example").toBeDefined();
	if (!withoutOutput.has(name)) expect(firstBlock(readme, "text"), "says what it prints").toBeDefined();
});
