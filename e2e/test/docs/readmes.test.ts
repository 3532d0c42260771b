/** The first example of every package's README is run as it stands, and must print what the README says. */
import { execFileSync } from "node:child_process";
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
	if (withoutOutput.has(name)) return;
	const flags = ["--conditions=@pi-subagents/source", "--disable-warning=ExperimentalWarning"];
	const code = ["--input-type=module-typescript", "--eval", firstBlock(readme, "ts") ?? ""];
	const printed = execFileSync(process.execPath, [...flags, ...code], {
		cwd: join(packages, name), // so that it finds itself by its own name
		encoding: "utf8",
	});
	// A busy machine takes a little longer than the one that the README was written on.
	expect(printed.replace(/ in 0\.\ds\b/g, " in 0s")).toBe(firstBlock(readme, "text"));
});
