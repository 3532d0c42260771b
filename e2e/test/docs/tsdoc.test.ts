/** The examples in the TSDoc of every published package run as they are, and give what their comments say. */
import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleWorld, type Names } from "../../support/example-world.ts";

const root = fileURLToPath(new URL("../../../packages", import.meta.url));

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

/** Each statement with a value in its comment becomes a check of it, and each that throws a check of that. */
function checked(code: string): string {
	return code
		.replace(/;\n\/\/ (?=["[{\d])/g, "; // ")
		.split("\n")
		.map((line) => {
			const [, thrower, message] = /^(.*); \/\/ throws: (.*?)…?$/.exec(line) ?? [];
			if (thrower !== undefined) return `throws(() => ${thrower}, ${JSON.stringify(message)});`;
			if (line.startsWith("throw ")) return `throws(() => { ${line} }, "");`;
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

interface Manifest {
	private?: boolean;
	exports: Record<string, { default?: string }>;
}

/** What a package exports, from all its entries. */
async function apiOf(pkg: string): Promise<Names> {
	const { exports }: Manifest = JSON.parse(readFileSync(join(root, pkg, "package.json"), "utf8"));
	const entries = Object.values(exports).flatMap((entry) => entry.default ?? []);
	const modules = await Promise.all(entries.map((entry) => import(pathToFileURL(join(root, pkg, entry)).href)));
	return Object.assign({}, ...modules);
}

/** The extension is for people, and has no functions. */
const published = readdirSync(root).filter((pkg) => {
	const manifest: Manifest = JSON.parse(readFileSync(join(root, pkg, "package.json"), "utf8"));
	return !manifest.private && pkg !== "extension";
});
const apis = await Promise.all(published.map(async (pkg): Promise<[string, Names]> => [pkg, await apiOf(pkg)]));
const all: Names = Object.assign({}, ...apis.map(([, api]) => api));
const world = await exampleWorld(all);
const home = process.cwd();

beforeAll(() => process.chdir(world.root)); // some write a file where they are
afterAll(async () => {
	process.chdir(home);
	await world[Symbol.asyncDispose]();
});

describe.each(apis)("%s", (pkg, api) => {
	const examples = examplesOf(pkg).filter(({ code }) => Object.keys(api).some((name) => code.includes(name)));
	test("has examples", () => expect(examples.length).toBeGreaterThan(0));

	test.each(examples)("$name", async ({ name, code }) => {
		const names: Names = {
			...all,
			...world.namesFor(name),
			...api,
			expect: (one: unknown, other: unknown) => expect(unmarked(one)).toEqual(unmarked(other)),
			throws: (work: () => unknown, message: string) => expect(work).toThrow(message),
		};
		const whole = `{\n${stripTypeScriptTypes(checked(code))}\n;if (typeof close === "function") await close();\n}`;
		await new AsyncFunction(...Object.keys(names), whole)(...Object.values(names));
	});
});
