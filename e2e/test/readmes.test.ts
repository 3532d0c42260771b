/** The first example of every package's README is run as it stands, and must print what the README says. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const packages = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "packages");
const firstBlock = (readme: string, language: string) =>
	new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(readme)?.[1];

test.each(readdirSync(packages))("%s", (name) => {
	const file = join(packages, name, "README.md");
	expect(existsSync(file), "has a README").toBe(true);
	const readme = readFileSync(file, "utf8");
	expect(readme.split("\n").length, "is short").toBeLessThanOrEqual(62);
	const example = firstBlock(readme, "ts");
	if (name === "extension") return expect(firstBlock(readme, "markdown")).toContain("name: repo-scout"); // used by people, not by code
	const flags = ["--conditions=@pi-subagents/source", "--disable-warning=ExperimentalWarning"];
	const printed = execFileSync(
		process.execPath,
		[...flags, "--input-type=module-typescript", "--eval", example ?? ""],
		{
			cwd: join(packages, name), // so that it finds itself by its own name
			encoding: "utf8",
		},
	);
	expect(printed).toBe(firstBlock(readme, "text"));
});
