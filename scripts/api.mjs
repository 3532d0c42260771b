#!/usr/bin/env node
/**
 * `node scripts/api.mjs [--write]`: the interface of every public entry of every public package, one file each in
 * `docs/api`, so that a change shows in a diff. It reads the built declarations, where a statement begins at the margin.
 * Without `--write` it fails when a file differs from the declarations.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, "docs", "api");
const STATEMENT = /^(?=(?:export|declare|import|interface|type|abstract|class|function|const)\b)/m;

const reports = new Map(readdirSync(join(root, "packages")).flatMap(reportsOf));
const known = existsSync(target) ? readdirSync(target) : [];

if (process.argv.includes("--write")) {
	mkdirSync(target, { recursive: true });
	for (const file of known) if (!reports.has(file)) rmSync(join(target, file));
	for (const [file, text] of reports) writeFileSync(join(target, file), text);
} else {
	const stale = [
		...known.filter((file) => !reports.has(file)),
		...[...reports].filter(([file, text]) => !isWritten(file, text)).map(([file]) => file),
	];
	if (stale.length > 0) {
		console.error(`The public interface has changed. Run \`npm run api\` to rewrite these files, and review the diff:`);
		console.error(stale.map((file) => `  docs/api/${file}`).join("\n"));
		process.exit(1);
	}
}

function isWritten(file, text) {
	return known.includes(file) && readFileSync(join(target, file), "utf8") === text;
}

function reportsOf(name) {
	const dir = join(root, "packages", name);
	const manifest = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
	if (manifest.private) return [];
	return Object.entries(manifest.exports).flatMap(([entry, conditions]) => {
		if (!conditions.types || isInternal(entry)) return [];
		const file = `${[name, ...entry.split("/").slice(1)].join("-")}.api.md`;
		return [[file, reportOf(join(manifest.name, entry), join(dir, conditions.types))]];
	});
}

/** For our own packages: it changes with them, without notice. */
function isInternal(entry) {
	return entry.split("/").includes("internal");
}

function reportOf(title, file) {
	const exported = exportsOf(file);
	const inner = innerOf(exported);
	const blocks = [
		...new Set(exported.map(({ text }) => text).sort()),
		...(inner.length > 0 ? ["// Not exported here, but part of what is:"] : []),
		...new Set(inner.map(({ text }) => text.replace(/^export /, "")).sort()),
	];
	return `# API of \`${title}\`

Generated from the built declarations by \`npm run api\`; do not edit.

\`\`\`ts
${blocks.join("\n\n")}
\`\`\`
`;
}

/** The declarations that an entry exports, wherever they are. Each has the file that it is in and its names. */
function exportsOf(file) {
	return statementsOf(file).flatMap((text) => {
		const [, star] = /^export (?:type )?\* from "(\..+)"/.exec(text) ?? [];
		if (star) return exportsOf(beside(file, star));
		const [, names, from] = /^export (?:type )?\{(.*)\}(?: from "(.+)")?;/s.exec(text) ?? [];
		if (names === undefined) return text.startsWith("export") ? [{ file, text }] : [];
		if (!from?.startsWith(".")) return [{ file, text: sortedNames(text) }];
		return namesIn(names).flatMap(({ own, other }) => {
			const found = named(beside(file, from), own);
			return own === other ? found : [...found, { file, text: `export { ${own} as ${other} };` }];
		});
	});
}

/** What the declarations use of their own files and of those beside them, and so on. */
function innerOf(exported) {
	const seen = new Set(exported.map(key));
	const inner = [];
	const open = [...exported];
	for (let one = open.pop(); one; one = open.pop()) {
		for (const used of usedBy(one)) {
			if (seen.has(key(used))) continue;
			seen.add(key(used));
			inner.push(used);
			open.push(used);
		}
	}
	return inner;
}

function usedBy({ file, text }) {
	const words = new Set(text.match(/[A-Za-z_$][\w$]*/g));
	const imported = statementsOf(file).flatMap((statement) => {
		const [, names, from] = /^import (?:type )?\{(.*)\} from "(\..+)";/s.exec(statement) ?? [];
		if (names === undefined) return [];
		return namesIn(names).flatMap(({ own, other }) => (words.has(other) ? named(beside(file, from), own) : []));
	});
	return [...imported, ...[...words].flatMap((word) => declaredIn(file, word))];
}

/** The declarations of a name, in the file or where the file has it from. */
function named(file, name) {
	const declared = declaredIn(file, name);
	return declared.length > 0 ? declared : exportsOf(file).filter(({ text }) => nameOf(text) === name);
}

function declaredIn(file, name) {
	return statementsOf(file)
		.filter((text) => nameOf(text) === name)
		.map((text) => ({ file, text }));
}

function nameOf(text) {
	const declaration =
		/^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const) ([\w$]+)/;
	return declaration.exec(text)?.[1];
}

function namesIn(list) {
	return list
		.split(",")
		.map((name) => name.trim().replace(/^type /, ""))
		.filter(Boolean)
		.map((name) => {
			const [own, other = own] = name.split(" as ");
			return { own, other };
		});
}

function sortedNames(text) {
	return text.replace(
		/\{(.*)\}/s,
		(_, list) =>
			`{ ${list
				.split(",")
				.map((name) => name.trim())
				.filter(Boolean)
				.sort()
				.join(", ")} }`,
	);
}

function statementsOf(file) {
	const text = readFileSync(file, "utf8")
		.replace(/\/\*\*?[\s\S]*?\*\//g, "")
		.replace(/^\/\/.*$/gm, "")
		.replace(/^\s*\n/gm, "")
		.replaceAll("    ", "\t");
	return text
		.split(STATEMENT)
		.map((statement) => statement.trim())
		.filter((statement) => statement !== "" && statement !== "export {};");
}

function beside(file, specifier) {
	return resolve(dirname(file), specifier.replace(/\.ts$/, ".d.ts"));
}

function key({ file, text }) {
	return `${file}\n${text}`;
}
