/** `node main.ts [preset] [task]`: what a preset would run with, and who decided it. Settings and presets are in `agent/`. */
import { join } from "node:path";
import { createLauncher } from "@pi-subagents/launch";

const cwd = import.meta.dirname;
const [preset = "reviewer", task = "Review the last commit."] = process.argv.slice(2);
const models = ["large", "small"].map((id) => ({ provider: "acme", id }));
const tools = ["read", "grep", "find", "ls", "bash"].map((name) => ({ name, isActive: true }));

const launcher = createLauncher({
	agentDir: join(cwd, "agent"),
	warn: console.warn,
	parent: () => ({ model: models[0], thinking: "low" }),
	facts: async () => ({
		models,
		tools,
		cwd: { path: cwd, kind: "directory", isAsked: false },
		isProjectTrusted: false,
	}),
});

const { spec } = await launcher.resolve({ preset, task, isTrial: true }, { cwd });
const { model, thinking, tools: own, limits, origins } = spec;
console.log(`${spec.type}: ${spec.task}`);
console.log(`model     ${model} (${origins.model})`);
console.log(`thinking  ${thinking} (${origins.thinking})`);
console.log(`tools     ${own.join(", ")} (${origins.tools})`);
console.log(`maxTurns  ${limits.maxTurns} (${origins.maxTurns})`);
