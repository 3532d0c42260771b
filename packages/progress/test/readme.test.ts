/** The README's phrases work as they stand. Its first example is run with those of the other packages. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const blocks = (language: string) =>
	Array.from(readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms")), ([, code = ""]) => code);

function runTypeScript(code: string): string {
	const flags = ["--conditions=@pi-subagents/source", "--disable-warning=ExperimentalWarning"];
	// Run inside the package, so that it finds itself by its own name.
	return execFileSync(process.execPath, [...flags, "--input-type=module-typescript", "--eval", code], {
		cwd: fileURLToPath(new URL("..", import.meta.url)),
		encoding: "utf8",
	});
}

test("the phrases in the README work", () => {
	const [, phrases = ""] = blocks("ts");
	const code = `
		import { createDescriber } from "@pi-subagents/progress";
		const line = ${phrases}
		console.log(line({ type: "tool_call", tool: "deploy", args: { name: "api" } }));
		console.log(line({ type: "tool_call", tool: "other", args: {} }));
		console.log(line({ type: "compacting" }));`;
	expect(runTypeScript(code)).toBe("Deploying api\nAppel de other\nCompression du contexte\n");
});
