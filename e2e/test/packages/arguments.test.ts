/** What callers in JavaScript get wrong: public functions of every package answer with a `TypeError` that names the argument. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { Names } from "../../support/example-world.ts";

/** A wrong call of an export, and the argument that it must name. */
type Wrong = [argument: string, call: (api: Names) => unknown];

const clock = { now: () => 0, after: () => () => undefined };
const host = { agentDir: "/tmp", warn: () => undefined, facts: async () => ({}), parent: () => ({}) };
const report = { agents: [] };

const wrong: Record<string, Wrong[]> = {
	progress: [
		["events", ({ describeAll }) => describeAll(undefined)],
		["events", ({ describeAll }) => describeAll("tool_call")],
		["path", ({ checkArguments }) => checkArguments({ path: [7, "string"] })],
	],
	report: [
		["runs", ({ buildReport }) => buildReport({ runs: [] }, { now: 0 })],
		["options", ({ buildReport }) => buildReport([])],
		["options.now", ({ buildReport }) => buildReport([], { now: new Date(0) })],
		["dir", ({ readRunDirs }) => readRunDirs(["runs"])],
		["entries", ({ readSessionRuns }) => readSessionRuns("session.jsonl")],
		["report", ({ otlpTraces }) => otlpTraces()],
		["report.agents", ({ chromeTrace }) => chromeTrace({})],
		["report", ({ htmlReport }) => htmlReport("report.html")],
		["path", ({ writeHtmlReport }) => writeHtmlReport(report)],
	],
	delivery: [
		["deps", ({ createDelivery }) => createDelivery()],
		["deps.manager", ({ createDelivery }) => createDelivery({ log: {}, messenger: {} })],
		["deps.messenger", ({ createDelivery }) => createDelivery({ manager: {}, log: {}, messenger: () => undefined })],
	],
	rpc: [
		["bus", ({ connect }) => connect()],
		["bus", ({ connect }) => connect({ events: {} })],
		["bus", ({ serve }) => serve(null, {})],
		["handlers", ({ serve }) => serve({ on: () => undefined, emit: () => undefined })],
	],
	core: [
		["options", ({ Manager }) => new Manager()],
		["options.runners", ({ Manager }) => new Manager({ clock, newId: () => "a" })],
		["options.newId", ({ Manager }) => new Manager({ runners: {}, clock, newId: "a" })],
	],
	runs: [
		["dirs", ({ listRuns }) => listRuns("/runs", { now: 0 })],
		["options.agentDir", ({ listRuns }) => listRuns([], { now: 0 })],
		["options.now", ({ listRuns }) => listRuns([], { agentDir: "/tmp" })],
		["options.cwd", ({ findRunsDirs }) => findRunsDirs({ agentDir: "/tmp" })],
		["root", ({ prepareRunsDir }) => prepareRunsDir()],
		["dir", ({ readEvents }) => readEvents(undefined)],
	],
	launch: [
		["host", ({ createLauncher }) => createLauncher()],
		["host.agentDir", ({ createLauncher }) => createLauncher({ ...host, agentDir: undefined })],
		["host.warn", ({ createLauncher }) => createLauncher({ ...host, warn: console })],
	],
	workflow: [
		["source", ({ checkScript }) => checkScript({ script: "" })],
		["options", ({ runWorkflow }) => runWorkflow()],
		["options.ports", ({ runWorkflow }) => runWorkflow({ id: "w1", script: "", journal: {} })],
	],
	widget: [
		["views", ({ buildTree }) => buildTree(null)],
		["records", ({ renderTree }) => renderTree({}, { width: 80, now: 0 })],
		["options.width", ({ renderTree }) => renderTree([], { width: "80", now: 0 })],
	],
};

const root = fileURLToPath(new URL("../../../packages", import.meta.url));

describe.each(Object.entries(wrong))("%s", async (entry, calls) => {
	const [pkg = "", ...path] = entry.split("/");
	const { exports } = JSON.parse(readFileSync(`${root}/${pkg}/package.json`, "utf8"));
	const file = join(root, pkg, exports[[".", ...path].join("/")].default);
	const api: Names = await import(pathToFileURL(file).href);

	test.each(calls)("%s", async (argument, call) => {
		const thrown: unknown = await new Promise((resolve) => resolve(call(api))).then(
			() => "nothing",
			(error) => error,
		);
		expect(thrown).toBeInstanceOf(TypeError);
		expect(String(thrown)).toMatch(new RegExp(`^TypeError: ${argument.replace(".", "\\.")} must be `));
	});
});
