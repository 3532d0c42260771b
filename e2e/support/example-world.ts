/** What the examples in TSDoc leave to the reader: a project with a run in it, a manager, a session, a bus. All of it real or inert. */
import { EventEmitter } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";

/** The exports of all packages, by name. The examples are untyped, and so is this. */
// biome-ignore lint/suspicious/noExplicitAny: values that examples name
export type Names = Record<string, any>;

export interface ExampleWorld extends AsyncDisposable {
	root: string;
	/** For the example of a file. Some end their manager, so each has its own. */
	namesFor(file: string): Names;
}

const nothing = () => undefined;
const asIs = (_name: string, text: string) => text;
const theme = { fg: asIs, bg: asIs, bold: (text: string) => text, italic: (text: string) => text };

export async function exampleWorld(api: Names): Promise<ExampleWorld> {
	const temp = await createTempDir("examples-");
	const root = temp.path;
	for (const folder of ["runs", "schedules"]) await mkdir(join(root, ".pi", "subagents", folder), { recursive: true });
	const runner = api.fakeRunner((run: Names) => run.answer("Done."));
	let ids = 0;
	const newId = () => `agent${++ids}`;
	const newManager = () => new api.Manager({ runners: { session: runner }, clock: api.systemClock, newId });
	const manager = newManager();
	const { dir: runsDir } = await api.prepareRunsDir(root);
	const spec = { ...api.sampleSpec, runsDir };
	const recorder = api.recordRuns({ store: manager.store, specOf: (id: string) => manager.specOf(id) });
	const { id } = manager.spawn(spec);
	await manager.wait(id);
	await recorder.close();
	const { runs } = await api.readRunDirs(runsDir);
	const report = api.buildReport(runs, { now: Date.now() });
	const bus = busWithServer(api);
	const keys = { matches: () => false, getKeys: () => [] };
	const tui = { terminal: { rows: 24, columns: 80 }, requestRender: nothing };
	const entry = { artifacts: join(runsDir, id), runId: id };
	const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
	const launchHost = {
		agentDir: root,
		warn: nothing,
		facts: async () => ({
			models: [{ provider: "fake", id: "one", name: "One" }],
			tools: ["read", "bash", "grep", "find", "ls", "edit", "write"].map((tool) => ({ name: tool, isActive: true })),
			cwd: { path: root, kind: "directory", isAsked: false },
			isProjectTrusted: false,
		}),
		parent: () => ({ model: { provider: "fake", id: "one" } }),
	};
	const names: Names = {
		...{ root, cwd: root, project: root, projectRoot: root, projectDir: root, agentDir: root },
		...{
			dir: entry.artifacts,
			runDir: entry.artifacts,
			path: join(root, "none.jsonl"),
			entry,
			join,
			newId,
			id,
			manager,
			spec,
			runs,
			report,
			usage,
		},
		runners: { session: runner },
		...{ now: Date.UTC(2027, 0, 31), answer: "Two doors.", name: "Explore", wanted: "Explore", sessionId: "s1" },
		...{ records: [{ name: "explore" }], presets: [{ name: "Explore" }], liveRuns: new Set(), isTrusted: () => false },
		...{ events: [], lines: [], state: { group: "working" }, show: nothing, forget: nothing, ask: async () => "yes" },
		...{
			sendOrder: nothing,
			mirrorAgain: nothing,
			describeCall: () => "",
			isWaiting: () => false,
			launch: async () => id,
		},
		...{
			abort: nothing,
			readFile: async (file: string) => readFile(file, "utf8").catch(() => ""),
			writeFile: async () => undefined,
		},
		...launchHost,
		host: { ...launchHost, isProjectTrusted: () => false, modelRuntime: async () => ({}) },
		launcher: { resolve: async () => ({ spec }) },
		script: 'export const meta = { name: "hi", description: "Says hi" }\nreturn args.length',
		ports: { agent: async () => ({ status: "completed", text: "hi" }), ask: async () => undefined },
		port: registryPort(newId),
		pi: { events: bus, registerTool: nothing },
		ctx: {
			sessionManager: { buildSessionProjection: () => ({ messages: [] }) },
			ui: {
				setWidget: (_key: string, make: (...given: unknown[]) => Names) => make(tui, theme).dispose?.(),
				custom: async (make: (...given: unknown[]) => Names) => void make(tui, theme, keys, nothing),
			},
		},
		sessionManager: { getEntries: () => [] },
		source: { length: 0, read: async () => [], onAppend: () => nothing },
		getMarkdownTheme: () => ({}),
		model: { contextWindow: 100_000 },
		process: {
			cwd: () => root,
			stdin: [],
			env: { HOME: root },
			stdout: { write: nothing, columns: 80 },
			stderr: { write: nothing },
		},
		console: { log: nothing, warn: nothing, error: nothing },
	};
	const byFile: Record<string, Names> = {
		"testing/conformance.ts": {
			describe: (_name: string, body: () => void) => body(),
			test: { each: (cases: readonly unknown[]) => () => cases.length },
			createMyFixture: nothing,
		},
		"dashboard/serve.ts": { runs: async () => [], onRunsChanged: () => nothing },
		"delivery.ts": api.memorySession([], nothing),
		"worktree/list-worktrees.ts": { dir: join(root, "worktrees") },
		"runs/retention.ts": { dir: runsDir },
	};
	const managers = [manager];
	return {
		root,
		namesFor(file) {
			const own = newManager();
			managers.push(own);
			const specOf = (agent: string) => own.specOf(agent);
			const { id } = own.spawn(spec);
			return { ...names, manager: own, store: own.store, specOf, id, ...byFile[file] };
		},
		async [Symbol.asyncDispose]() {
			await Promise.all(managers.map((each) => each.shutdown()));
			await temp.remove();
		},
	};
}

/** A bus on which a server launches agents that end at once. */
function busWithServer({ serve, lifecycleChannels }: Names) {
	const emitter = new EventEmitter();
	const bus = {
		emit: (channel: string, data: unknown) => void emitter.emit(channel, data),
		on(channel: string, listener: (data: unknown) => void) {
			emitter.on(channel, listener);
			return () => void emitter.off(channel, listener);
		},
	};
	serve(bus, {
		async spawn() {
			const ended = {
				id: "a1",
				type: "Explore",
				status: "completed",
				result: "In src/parse.ts.",
				durationMs: 1,
				toolUses: 0,
			};
			setImmediate(() =>
				bus.emit(lifecycleChannels.completed, { ...ended, tokens: { input: 0, output: 0, total: 0 } }),
			);
			return { id: "a1" };
		},
		stop: nothing,
	});
	return bus;
}

function registryPort(newId: () => string) {
	const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
	return {
		newId,
		now: Date.now,
		launch: async () => undefined,
		read: (id: string) => ({
			id,
			type: "Explore",
			status: "completed",
			result: "In src/parse.ts.",
			lifetimeUsage: usage,
		}),
		session: nothing,
		wait: async () => "In src/parse.ts.",
		active: () => [],
		refused: nothing,
	};
}
