#!/usr/bin/env node
/**
 * Checks that the packages keep to the architecture: who may import whom, only through declared entries,
 * no circles of files, and entries that must stay free of pi or Node are.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PI = ["@earendil-works/pi-ai", "@earendil-works/pi-coding-agent", "@earendil-works/pi-tui"];

/** `ours`: packages of this workspace. `others`: anything from the registry. `pure`: entries without Node or pi. */
const RULES = {
	progress: { ours: [], others: [], pure: ["index.ts"] },
	presets: { ours: [], others: ["yaml"], pure: [] },
	core: { ours: ["progress"], others: [...PI, "typebox"], pure: ["index.ts"] },
	widget: { ours: ["core", "progress"], others: ["@earendil-works/pi-tui"], typesOnly: ["core"], pure: [] },
	schedule: { ours: [], others: ["croner"], pure: [] },
	rpc: { ours: [], others: [], pure: ["index.ts"] },
	extension: {
		ours: ["core", "presets", "progress", "rpc", "schedule", "widget"],
		others: [...PI, "typebox"],
		pure: [],
	},
};

const complaints = [];

for (const name of readdirSync(join(root, "packages"))) {
	const rule = RULES[name];
	if (!rule) {
		complaints.push(`packages/${name} has no rule in scripts/boundaries.mjs`);
		continue;
	}
	const source = join(root, "packages", name, "src");
	const files = readdirSync(source, { recursive: true })
		.map((file) => join(source, file))
		.filter((file) => file.endsWith(".ts"));
	const graph = new Map(files.map((file) => [file, importsOf(file)]));
	for (const [file, imports] of graph) for (const found of imports) check(name, rule, source, file, found);
	for (const circle of circles(graph)) {
		complaints.push(`circle: ${circle.map((file) => relative(root, file)).join(" → ")}`);
	}
	for (const entry of rule.pure) checkPure(join(source, entry), graph);
}

if (complaints.length > 0) {
	console.error(complaints.map((complaint) => `boundaries: ${complaint}`).join("\n"));
	process.exit(1);
}

function check(name, rule, source, file, { target, isType }) {
	const where = relative(root, file);
	if (target.startsWith(".")) {
		const path = resolve(dirname(file), target);
		if (!path.startsWith(source)) complaints.push(`${where} reaches outside its package: ${target}`);
		else if (!existsSync(path)) complaints.push(`${where} imports ${target}, which does not exist`);
	} else if (target.startsWith("@pi-subagents/")) {
		const [, other, ...rest] = target.split("/");
		if (!rule.ours.includes(other)) complaints.push(`${where}: ${name} may not import ${other}`);
		else if (rule.typesOnly?.includes(other) && !isType)
			complaints.push(`${where}: ${name} may import only types of ${other}`);
		else if (!exportsOf(other).includes(["."].concat(rest).join("/")))
			complaints.push(`${where}: ${target} is not an entry of ${other}`);
	} else if (!target.startsWith("node:")) {
		const library = target.split("/", target.startsWith("@") ? 2 : 1).join("/");
		if (!rule.others.includes(library)) complaints.push(`${where}: ${name} may not import ${library}`);
	}
}

/** A type costs nothing at run time, so only real imports spoil an entry. */
function checkPure(entry, graph) {
	const seen = new Set();
	const walk = (file) => {
		if (seen.has(file)) return;
		seen.add(file);
		for (const { target, isType } of graph.get(file) ?? []) {
			if (isType) continue;
			if (target.startsWith(".")) walk(resolve(dirname(file), target));
			else if (target.startsWith("node:") || PI.includes(target)) {
				complaints.push(
					`${relative(root, entry)} must be free of Node and pi, but ${relative(root, file)} imports ${target}`,
				);
			}
		}
	};
	walk(entry);
}

function circles(graph) {
	const found = [];
	const state = new Map();
	const visit = (file, path) => {
		if (state.get(file) === "done") return;
		if (state.get(file) === "open") return found.push([...path.slice(path.indexOf(file)), file]);
		state.set(file, "open");
		for (const { target, isType } of graph.get(file) ?? []) {
			if (target.startsWith(".") && !isType) visit(resolve(dirname(file), target), [...path, file]);
		}
		state.set(file, "done");
	};
	for (const file of graph.keys()) visit(file, []);
	return found;
}

function importsOf(file) {
	// Comments hold examples with imports of their own.
	const text = readFileSync(file, "utf8")
		.replace(/\/\*[\s\S]*?\*\//g, "")
		.replace(/^\s*\/\/.*$/gm, "");
	const statements = /^\s*(import|export)\s+(type\s+)?([^"';]*?\bfrom\s*)?"([^"]+)";/gm;
	const dynamic = /\bimport\("([^"]+)"\)/g;
	return [
		...[...text.matchAll(statements)].map(([, , type, clause, target]) => ({
			target,
			isType: !!type || onlyTypes(clause),
		})),
		...[...text.matchAll(dynamic)].map(([, target]) => ({ target, isType: false })),
	];
}

/** `import { type A, type B } from`. */
function onlyTypes(clause = "") {
	const names = /\{([^}]*)\}/
		.exec(clause)?.[1]
		?.split(",")
		.map((name) => name.trim())
		.filter(Boolean);
	return !!names?.length && names.every((name) => name.startsWith("type "));
}

function exportsOf(name) {
	return Object.keys(JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")).exports);
}
