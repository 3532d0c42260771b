#!/usr/bin/env node
/**
 * Checks that the packages follow the architecture: which package may import which, only through declared entries,
 * no cycles of files or folders, entries that must load without pi or Node do, and one folder alone signals processes.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { folderGraph, importsOf, typescriptIn, withoutComments } from "./source-graph.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PI = ["@earendil-works/pi-ai", "@earendil-works/pi-coding-agent", "@earendil-works/pi-tui"];

/** `ours`: packages of this workspace. `others`: anything from the registry. `pure`: entries without Node or pi. `withoutPi`: entries that load where no pi is installed. `bundles`: what the build puts into them. */
const RULES = {
	progress: { ours: [], others: ["typebox"], pure: ["index.ts", "schema/index.ts"] },
	presets: { ours: ["progress"], others: ["yaml"], withoutPi: ["index.ts"] },
	core: {
		ours: ["progress"],
		others: ["typebox"],
		pure: ["index.ts", "outcome-text/index.ts", "internal/base.ts"],
	},
	runs: { ours: ["core", "progress"], others: ["typebox"], withoutPi: ["index.ts", "internal/index.ts"] },
	worktree: { ours: ["core", "progress", "runs"], others: ["typebox"], withoutPi: ["index.ts"] },
	runners: {
		ours: ["core", "progress", "runs", "worktree"],
		others: [...PI, "typebox"],
		withoutPi: ["detached/index.ts"],
	},
	launch: {
		ours: ["core", "presets", "progress", "runs", "schedule", "worktree"],
		others: ["nanoid", "typebox"],
		withoutPi: ["index.ts"],
	},
	delivery: { ours: ["core", "progress", "runners", "runs"], others: ["typebox"], withoutPi: ["index.ts"] },
	workflow: { ours: ["core", "launch", "progress", "runs"], others: [], withoutPi: ["index.ts", "session/index.ts"] },
	report: {
		ours: ["core", "progress", "runs", "worktree"],
		others: ["preact"],
		withoutPi: ["index.ts", "dashboard/index.ts"],
	},
	widget: { ours: ["core", "progress"], others: ["@earendil-works/pi-tui"], typesOnly: ["core"] },
	tools: { ours: ["core", "delivery", "launch", "presets", "progress", "runs", "widget"], others: [...PI, "typebox"] },
	commands: {
		ours: [
			"core",
			"delivery",
			"launch",
			"presets",
			"progress",
			"report",
			"runners",
			"runs",
			"schedule",
			"widget",
			"workflow",
			"worktree",
		],
		others: [...PI, "typebox"],
	},
	remote: {
		ours: ["core", "progress", "remote", "runners", "runs", "worktree"],
		others: ["@nats-io/jetstream", "@nats-io/obj", "@nats-io/transport-node", "typebox"],
		withoutPi: ["index.ts", "bin.ts"],
	},
	cli: {
		ours: ["core", "progress", "report", "runners", "runs", "widget"],
		others: [],
		withoutPi: ["index.ts"],
		bundles: ["@earendil-works/pi-tui"],
	},
	schedule: { ours: [], others: ["croner"], withoutPi: ["index.ts"] },
	rpc: { ours: ["progress"], others: [], typesOnly: ["progress"], pure: ["index.ts"] },
	extension: {
		ours: [
			"commands",
			"core",
			"delivery",
			"launch",
			"presets",
			"progress",
			"remote",
			"rpc",
			"runners",
			"runs",
			"schedule",
			"tools",
			"widget",
			"workflow",
			"worktree",
		],
		others: [...PI, "typebox"],
	},
};

/** The only folder that signals processes: it knows who may be signalled. */
const SIGNALS = join(root, "packages", "core", "src", "signals");
/** Everything in the source that could signal one. `tmux kill-window` is an order to tmux about a window. */
const SIGNALLING =
	/\bprocess\s*(?:\?\.|\.|\[\s*["'`])\s*kill\b|\.kill\b|\bkill\b[^;={}]*\}\s*=\s*process\b|\bkill\s+-|\b(?:task|p)kill\b|\bkillall\b/;
/** These take who to signal from a record. Only the file that reads records may call them. */
const WITH_RECORDS = ["signalRecorded", "killGroupLeftBy"];

const complaints = [];
const allFiles = new Map();

for (const name of readdirSync(join(root, "packages"))) {
	const rule = RULES[name];
	if (!rule) {
		complaints.push(`packages/${name} has no rule in scripts/boundaries.mjs`);
		continue;
	}
	const source = join(root, "packages", name, "src");
	const files = sourcesOf(name);
	const graph = new Map(files.map((file) => [file, importsOf(file)]));
	for (const [file, imports] of graph) allFiles.set(file, imports);
	for (const [file, imports] of graph) for (const found of imports) check(name, rule, source, file, found);
	for (const [file, imports] of graph) checkSignals(file, imports);
	for (const cycle of cycles(runtimeGraph(graph)))
		complaints.push(`cycle: ${cycle.map((file) => relative(root, file)).join(" → ")}`);
	for (const cycle of cycles(folderGraph(graph)))
		complaints.push(`cycle of folders: ${cycle.map((folder) => relative(root, folder)).join(" → ")}`);
	for (const entry of rule.pure ?? [])
		checkReach(join(source, entry), graph, {
			isAllowed: (target) => !target.startsWith("node:") && !PI.includes(target),
			without: "Node and pi",
		});
	for (const entry of rule.withoutPi ?? [])
		checkReach(join(source, entry), graph, {
			isAllowed: (target) => !PI.includes(target) || rule.bundles?.includes(target),
			without: "pi",
		});
}

if (complaints.length > 0) {
	console.error(complaints.map((complaint) => `boundaries: ${complaint}`).join("\n"));
	process.exit(1);
}

function sourcesOf(name) {
	return typescriptIn(join(root, "packages", name, "src"));
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

/** A pid in a file of a run, or from another machine, may be that of any process of the user. */
function checkSignals(file, imports) {
	if (file.startsWith(SIGNALS)) return;
	const where = relative(root, file);
	const [found] = SIGNALLING.exec(withoutComments(readFileSync(file, "utf8"))) ?? [];
	if (found) complaints.push(`${where} signals processes (${found}): only packages/core/src/signals may`);
	for (const { names = [] } of imports)
		for (const each of WITH_RECORDS)
			if (names.includes(each)) complaints.push(`${where} imports ${each}: use RunProcesses, which reads the record`);
}

/** Types cost nothing at run time, so only real imports count. */
function checkReach(entry, graph, { isAllowed, without }) {
	const seen = new Set();
	const walk = (file) => {
		if (seen.has(file)) return;
		seen.add(file);
		for (const { target, isType } of graph.get(file) ?? allFiles.get(file) ?? []) {
			if (isType) continue;
			if (target.startsWith(".")) walk(resolve(dirname(file), target));
			else if (target.startsWith("@pi-subagents/")) walk(sourceOf(target));
			else if (!isAllowed(target)) {
				complaints.push(
					`${relative(root, entry)} must load without ${without}, but ${relative(root, file)} imports ${target}`,
				);
			}
		}
	};
	walk(entry);
}

/** The entry behind a specifier of another package of ours. */
function sourceOf(target) {
	const [, name, ...rest] = target.split("/");
	const { exports } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
	const entry = join(root, "packages", name, exports[["."].concat(rest).join("/")]?.["@pi-subagents/source"] ?? "");
	if (!allFiles.has(entry)) for (const file of sourcesOf(name)) allFiles.set(file, importsOf(file));
	return entry;
}

/** Which file imports which when the program runs. */
function runtimeGraph(graph) {
	const targets = ([file, imports]) => [
		file,
		imports
			.filter(({ target, isType }) => target.startsWith(".") && !isType)
			.map(({ target }) => resolve(dirname(file), target)),
	];
	return new Map([...graph].map(targets));
}

function cycles(graph) {
	const found = [];
	const state = new Map();
	const visit = (node, path) => {
		if (state.get(node) === "done") return;
		if (state.get(node) === "open") return found.push([...path.slice(path.indexOf(node)), node]);
		state.set(node, "open");
		for (const target of graph.get(node) ?? []) visit(target, [...path, node]);
		state.set(node, "done");
	};
	for (const node of graph.keys()) visit(node, []);
	return found;
}

function exportsOf(name) {
	return Object.keys(JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")).exports);
}
