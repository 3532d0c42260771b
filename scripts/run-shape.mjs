/**
 * How often the shape of a run is repeated, for `npm run shape`: files that spell out its fields by hand, copies of closed
 * lists, and exported names that mean several things. Places to look, none of them a limit.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { typescriptIn } from "./source-graph.mjs";

/** A file that names this many fields of a run in one place has to be changed when a run changes. */
const MANY_FIELDS = 7;

/** Names of a run's fields beyond those of its spec and launch: of its record, its files and its entries. */
const OTHER_FIELDS = [
	"agentId",
	"runId",
	"run",
	"status",
	"outcome",
	"activity",
	"question",
	"waitsFor",
	"queuedAt",
	"startedAt",
	"completedAt",
	"durationMs",
	"turns",
	"toolUses",
	"usage",
	"contextPercent",
	"compactions",
	"attempts",
	"preset",
	"resolvedModel",
];

/** Where the shape is defined: these have to name the fields. `here` is the tree that says what the fields are. */
export function fieldsOfRun(here) {
	const files = ["spec", "launch"].map((name) => join(here, "packages/core/src/model/schema", `${name}.ts`));
	const defined = files.flatMap((file) =>
		[...readFileSync(file, "utf8").matchAll(/^\t{2,3}(\w+): (?!\{)/gm)].map(([, name]) => name),
	);
	return new Set([...defined, ...OTHER_FIELDS]);
}

/** `path (most fields in one place)`, the most first. */
export function filesThatSpellOut(fields, files) {
	return files
		.map((file) => ({ file, most: mostTogether(fields, readFileSync(file, "utf8")) }))
		.filter(({ most }) => most >= MANY_FIELDS)
		.sort((one, other) => other.most - one.most);
}

/** The most fields that one pair of braces holds, without what is in braces inside it. */
function mostTogether(fields, text) {
	const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
	const open = [""];
	let most = 0;
	for (const character of code) {
		if (character === "{") open.push("");
		else if (character === "}" && open.length > 1) most = Math.max(most, named(fields, open.pop()).size);
		else open.push(open.pop() + character);
	}
	return most;
}

function named(fields, body) {
	const keys = body.matchAll(/(?:^|[,;\n|])\s*(?:readonly\s+)?"?(\w+)"?\??\s*(?=[,:;]|$)/gm);
	return new Set([...keys].map(([, key]) => key).filter((key) => fields.has(key)));
}

/** The closed lists, by their first distinctive members: three of them in one line elsewhere are a copy. */
const LISTS = {
	runners: ["session", "process", "tmux", "remote", "workflow"],
	"thinking levels": ["off", "minimal", "low", "medium", "high", "xhigh"],
	statuses: ["queued", "running", "waiting", "completed", "failed", "aborted"],
	"who stopped it": ["user", "parent", "turns", "timeout", "idle", "budget", "shutdown", "lost"],
};

/** Lines that repeat a closed list, as `path:line (which)`. */
export function copiesOfLists(files) {
	return files.flatMap((file) =>
		readFileSync(file, "utf8")
			.split("\n")
			.flatMap((line, index) =>
				Object.entries(LISTS)
					.filter(([, words]) => words.filter((word) => new RegExp(`\\b${word}\\b`).test(line)).length >= 4)
					.filter(() => !/^\s*(?:\*|\/\/|\/\*)/.test(line))
					.map(([name]) => ({ file, line: index + 1, name })),
			),
	);
}

/** Exported names that more than one file declares. */
export function namesWithSeveralMeanings(packages) {
	const homes = new Map();
	for (const dir of packages)
		for (const file of typescriptIn(dir))
			for (const [, name] of readFileSync(file, "utf8").matchAll(
				/^export (?:declare |abstract |async )*(?:class|const|function|interface|type) (\w+)/gm,
			))
				homes.set(name, [...(homes.get(name) ?? []), file]);
	return [...homes].filter(([, files]) => files.length > 1).sort(([, one], [, other]) => other.length - one.length);
}
