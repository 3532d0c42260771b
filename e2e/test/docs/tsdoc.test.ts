/** The examples in the TSDoc of the packages that need no pi run as they are, and give what their comments say. */
import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../packages", import.meta.url));
const now = Date.UTC(2027, 0, 31);
/** What examples leave to the reader. */
const given = {
	answer: "Two doors.",
	now,
	presets: [{ name: "Explore" }],
	projectDir: join(root, "nowhere"),
	join,
	writeFile: async () => undefined,
	process: { cwd: () => root, stdin: [] },
	console: { log: () => undefined, warn: () => undefined },
};

interface Example {
	name: string;
	code: string;
}

function examplesOf(pkg: string): Example[] {
	const dir = join(root, pkg, "src");
	const files = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
	return files.flatMap((file) => {
		const comments = readFileSync(join(dir, file), "utf8").matchAll(/\/\*\*([\s\S]*?)\*\//g);
		return [...comments].flatMap(([, comment = ""]) => {
			const [, example] = comment.replace(/^[\t ]*\* ?/gm, "").split("@example\n");
			return example === undefined ? [] : [{ name: file, code: example.replace(/^```.*$/gm, "").trim() }];
		});
	});
}

/** Each statement with a value in its comment becomes a check of it. */
function checked(code: string): string {
	return code
		.replace(/;\n\/\/ /g, "; // ")
		.split("\n")
		.map((line) => {
			const [, expression, value] = /^(?!const |for |\t)(.*); \/\/ (["[{\d].*["\]}\d]|\d)$/.exec(line) ?? [];
			return expression === undefined ? line : `expect(${expression}, ${value});`;
		})
		.join("\n");
}

const AsyncFunction = (async () => undefined).constructor as new (
	...code: string[]
) => (...values: unknown[]) => unknown;

/** Marks are made at random. */
const unmarked = (value: unknown) =>
	typeof value === "string" ? value.replace(/-[0-9a-f]{12}>/g, "-mark>") : JSON.parse(JSON.stringify(value));

const apis = await Promise.all(
	["progress", "presets", "schedule"].map(async (pkg): Promise<[string, Record<string, unknown>]> => {
		const entry = new URL(`../../../packages/${pkg}/dist/index.js`, import.meta.url);
		return [pkg, await import(entry.href)];
	}),
);

describe.each(apis)("%s", (pkg, api) => {
	const examples = examplesOf(pkg).filter(({ code }) => Object.keys(api).some((name) => code.includes(name)));
	test("has examples", () => expect(examples.length).toBeGreaterThan(2));

	test.each(examples)("$name", async ({ code }) => {
		const names = {
			...given,
			...api,
			expect: (one: unknown, other: unknown) => expect(unmarked(one)).toEqual(unmarked(other)),
		};
		const run = new AsyncFunction(...Object.keys(names), `{\n${stripTypeScriptTypes(checked(code))}\n}`);
		await run(...Object.values(names));
	});
});
