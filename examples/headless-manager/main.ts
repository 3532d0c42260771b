/** `node main.ts <task> <preset>...`: lets each preset work on the task, side by side, and prints what they do and find. */
import { homedir } from "node:os";
import { join } from "node:path";
import { ModelRuntime } from "@earendil-works/pi-coding-agent";
import { type Facts, Manager, resolveSpec, systemClock, treeUsage } from "@pi-subagents/core";
import { builtins, discoverPresets, findPreset, subagentsDirs } from "@pi-subagents/presets";
import { formatTokens, outcomeText } from "@pi-subagents/progress";
import { sessionRunner, sessionTools } from "@pi-subagents/runners/session";

const [task = "What is this project about?", ...names] = process.argv.slice(2);
const cwd = process.cwd();
const agentDir = process.env.PI_CODING_AGENT_DIR ?? join(homedir(), ".pi", "agent");

// The user's own models and keys, as pi knows them.
const models = await ModelRuntime.create({
	authPath: join(agentDir, "auth.json"),
	modelsPath: join(agentDir, "models.json"),
});
const available = await models.getAvailable();
const { presets } = await discoverPresets({ cwd, agentDir, sources: [...builtins(), ...subagentsDirs()] });

const manager = new Manager({
	runners: { session: sessionRunner({ agentDir, modelRuntime: () => models, isProjectTrusted: () => false }) },
	clock: systemClock,
	newId: () => crypto.randomUUID().slice(0, 8),
	slots: { maxConcurrent: 4, whenFull: "queue" },
});

// Each change carries the line that describes it, the same one that the extension shows.
manager.store.subscribe(({ record, line }) => {
	if (line !== undefined) console.log(`${record.type}: ${line}`);
});

const facts: Facts = {
	models: available.map(({ provider, id }) => ({ provider, id })),
	tools: sessionTools().map((name) => ({ name, isActive: true })),
	cwd: { path: cwd, kind: "directory", isAsked: false },
	isProjectTrusted: false,
};
const launched = (names.length > 0 ? names : ["Explore"]).map((name) => {
	const preset = findPreset(presets, name);
	if (!preset) throw new Error(`There is no preset ${name}.`);
	const spec = resolveSpec({ request: { task }, preset, defaults: {}, parent: { model: available[0] }, facts });
	return manager.spawn(spec);
});

for (const { id, type } of launched) {
	const outcome = await manager.wait(id);
	const { usage } = treeUsage(manager.store.snapshot().records, id);
	console.log(`\n## ${type}: ${outcomeText(outcome)}, ${formatTokens(usage.input + usage.output)} tokens`);
	console.log(outcome.status === "completed" ? outcome.text : (outcome.partialText ?? ""));
	if (outcome.status !== "completed") process.exitCode = 1;
}
await manager.shutdown();
