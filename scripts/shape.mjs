#!/usr/bin/env node
/**
 * `npm run shape [-- --json|--list|--check]`: figures about the tree, for its readers. No count is a target: code that is
 * shaped to meet one gets worse (decision 34). `--list` also names what each figure counts. `--check`, a part of lint,
 * fails on exports that nobody uses; `scripts/boundaries.mjs` checks which way imports go.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { copiesOfLists, fieldsOfRun, filesThatSpellOut, namesWithSeveralMeanings } from "./run-shape.mjs";
import { folderGraph, importsIn, importsOf, typescriptIn } from "./source-graph.mjs";

const UNUSED = "exports nobody outside uses";
const SMALL_FILE = 40;
const MANY_FILES = 15;
/** What a block of an API report declares: its kind and its name. */
const DECLARED = /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(interface|type|class|function|const) ([\w$]+)/m;

const options = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const [given] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const here = dirname(dirname(fileURLToPath(import.meta.url)));
const root = given === undefined ? here : resolve(given);
const packages = readdirSync(join(root, "packages")).sort();
const sources = new Map(packages.map((name) => [name, typescriptIn(join(root, "packages", name, "src"))]));

const figures = measure();
if (options.includes("--check")) check(figures);
else if (options.includes("--json")) console.log(JSON.stringify(figures, null, "\t"));
else print(figures);

function measure() {
	const all = [...sources.values()].flat();
	const exported = packages.flatMap(exportsOf);
	return [
		...[...sources].map(([name, files]) => figure(`lines of packages/${name}/src`, linesIn(files))),
		listed("files on the path of a `subagent` call", pathOfCall()),
		listed("pairs of folders that import each other", mutualFolders()),
		listed(`source files under ${SMALL_FILE} lines with one importer`, smallFiles()),
		listed(`folders with more than ${MANY_FILES} files`, crowdedFolders()),
		{ ...listed(UNUSED, unusedOf(exported)), of: exported.length },
		listed(
			"files that spell out seven or more fields of a run",
			filesThatSpellOut(fieldsOfRun(here), all).map(({ file, most }) => `${shown(file)} (${most})`),
		),
		listed(
			"lines that repeat a closed list",
			copiesOfLists(all).map(({ file, line, name }) => `${shown(file)}:${line} (${name})`),
		),
		listed(
			"exported names with several meanings",
			namesWithSeveralMeanings(packages.map((name) => join(root, "packages", name, "src"))).map(
				([name, files]) => `${name}: ${files.map(shown).join(", ")}`,
			),
		),
		figure("source lines in all", linesIn(all)),
		figure("source files in all", all.length),
	];
}

function figure(name, value) {
	return { name, value };
}

function listed(name, items) {
	return { name, value: items.length, items };
}

function check(rows) {
	const { items } = rows.find(({ name }) => name === UNUSED);
	if (items.length === 0) return;
	console.error([`shape: ${UNUSED}: ${items.length}`, ...items].join("\n    "));
	process.exitCode = 1;
}

function print(rows) {
	const width = Math.max(...rows.map(({ name }) => name.length));
	for (const { name, value, of, items = [] } of rows) {
		const now = of === undefined ? `${value}` : `${value} of ${of}`;
		console.log(`${name.padEnd(width)}  ${now.padStart(12)}`);
		if (options.includes("--list")) for (const item of items) console.log(`    ${item}`);
	}
}

function linesIn(files) {
	return files.reduce((sum, file) => sum + lineCount(file), 0);
}

function lineCount(file) {
	return readFileSync(file, "utf8").split("\n").length - 1;
}

/** The numbered rows of ARCHITECTURE's table; `e2e` tests that each leads to the next. */
function pathOfCall() {
	const file = join(root, "ARCHITECTURE.md");
	if (!existsSync(file)) return [];
	const section = readFileSync(file, "utf8")
		.split(/^## /m)
		.find((text) => text.startsWith("The path of a call"));
	return [...(section ?? "").matchAll(/^\| \d+ \| `([^`]+)` \|/gm)].map(([, path]) => path);
}

function mutualFolders() {
	return [...sources.values()].flatMap((files) => {
		const folders = folderGraph(new Map(files.map((file) => [file, importsOf(file)])));
		return [...folders].flatMap(([folder, targets]) =>
			[...targets]
				.filter((target) => folder < target && folders.get(target)?.has(folder))
				.map((target) => `${shown(folder)} ↔ ${shown(target)}`),
		);
	});
}

/** Such a file usually belongs in its importer. Entries and what is loaded lazily are small on purpose. */
function smallFiles() {
	const importers = new Map();
	for (const file of [...sources.values()].flat())
		for (const { target } of importsOf(file).filter(({ target }) => target.startsWith("."))) {
			const path = resolve(dirname(file), target);
			importers.set(path, new Set(importers.get(path)).add(file));
		}
	return [...importers]
		.filter(([, users]) => users.size === 1)
		.map(([file]) => file)
		.filter((file) => existsSync(file) && !/^(?:index|bin|entry|.*\.lazy)\.ts$/.test(basename(file)))
		.filter((file) => lineCount(file) < SMALL_FILE)
		.map(shown)
		.sort();
}

function crowdedFolders() {
	const tests = [...packages.map((name) => join(root, "packages", name, "test")), join(root, "e2e", "test")];
	const files = [...[...sources.values()].flat(), ...tests.flatMap(typescriptIn)];
	return [...Map.groupBy(files, dirname)]
		.filter(([, found]) => found.length > MANY_FILES)
		.map(([folder, found]) => `${shown(folder)} (${found.length})`)
		.sort();
}

/** Every name of every entry of a package, as `{ entry: "@pi-subagents/core/internal/files", file, name, isType }`. */
function exportsOf(pkg) {
	const dir = join(root, "packages", pkg);
	const manifest = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
	return Object.entries(manifest.exports ?? {}).flatMap(([path, conditions]) => {
		const source = conditions["@pi-subagents/source"];
		if (!source) return [];
		const file = join(dir, source);
		const names = new Map(namesOf(file).map((each) => [each.name, each]));
		return [...names.values()].map((each) => ({ entry: manifest.name + path.slice(1), file, pkg, ...each }));
	});
}

function namesOf(file) {
	const text = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
	const lists = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type, list]) =>
		list
			.split(",")
			.map((name) => name.trim())
			.filter(Boolean)
			.map((name) => ({ name: name.split(/ as |^type /).at(-1), isType: !!type || name.startsWith("type ") })),
	);
	const stars = [...text.matchAll(/^export \* from "(\.[^"]+)"/gm)].map(([, target]) => resolve(dirname(file), target));
	const declared = /^export (?:declare |abstract |async )*(class|const|function|interface|type) (\w+)/gm;
	return [
		...lists,
		...[...text.matchAll(declared)].map(([, kind, name]) => ({ name, isType: /interface|type/.test(kind) })),
		...stars.flatMap(namesOf),
	];
}

/**
 * Users are other packages, tests, examples, benchmarks and the examples in documents; not the package's own source. A
 * type is also used if a used export of the same entry mentions it: without it, its users could not name what they get.
 */
function unusedOf(exported) {
	const used = new Set();
	const entries = Map.groupBy(exported, ({ file }) => file);
	const byName = Map.groupBy(exported, ({ entry }) => entry);
	for (const user of users()) {
		const text = readFileSync(user, "utf8");
		for (const { target, names } of importsAndLazyOnes(user, text)) {
			const found = target.startsWith(".") ? entries.get(resolve(dirname(user), target)) : byName.get(target);
			for (const { entry, pkg, name } of found ?? []) {
				if (user.startsWith(join(root, "packages", pkg, "src") + sep)) continue;
				// A namespace or a dynamic import: what the file names, it uses.
				if (names ? names.includes(name) : new RegExp(`\\b${name}\\b`).test(text)) used.add(`${entry} ${name}`);
			}
		}
	}
	for (const [entry, names] of byName) addMentionedTypes(entry, names, used);
	return exported
		.map(({ entry, name }) => `${entry} ${name}`)
		.filter((key) => !used.has(key))
		.sort();
}

/** What a `*.lazy.ts` file loads is used by its importers. */
function importsAndLazyOnes(user, text) {
	const imports = importsIn(text);
	const lazy = imports.filter(({ target }) => target.startsWith(".") && target.endsWith(".lazy.ts"));
	return [...imports, ...lazy.flatMap(({ target }) => importsOf(resolve(dirname(user), target)))];
}

/** The declarations are in the API report of the entry, which holds signatures and no bodies. */
function addMentionedTypes(entry, names, used) {
	const report = join(root, "docs", "api", `${entry.split("/").slice(1).join("-")}.api.md`);
	if (!existsSync(report)) return;
	const declarations = new Map();
	const types = new Set();
	for (const block of readFileSync(report, "utf8").split("\n\n")) {
		const [, kind, name] = DECLARED.exec(block) ?? [];
		declarations.set(name, `${declarations.get(name) ?? ""}${block}`);
		if (/interface|type|class/.test(kind)) types.add(name);
	}
	const wordsOf = (name) => declarations.get(name)?.match(/[A-Za-z_$][\w$]*/g) ?? [];
	const seen = new Set(names.map(({ name }) => name).filter((name) => used.has(`${entry} ${name}`)));
	for (const name of seen) for (const word of wordsOf(name)) if (types.has(word)) seen.add(word);
	for (const { name, isType } of names) if (isType && seen.has(name)) used.add(`${entry} ${name}`);
}

function users() {
	const skipped = new Set(["node_modules", "dist", "api", ".git", ".turbo", ".toolchain"]);
	const walk = (dir) =>
		readdirSync(dir, { withFileTypes: true }).flatMap((item) => {
			if (skipped.has(item.name)) return [];
			const path = join(dir, item.name);
			return item.isDirectory() ? walk(path) : /\.(?:[cm]?ts|mjs|md)$/.test(item.name) ? [path] : [];
		});
	return walk(root);
}

function shown(path) {
	return relative(root, path).split(sep).join("/");
}
