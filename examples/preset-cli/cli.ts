/** `node cli.ts` lists the presets of this directory and of the user; `node cli.ts <name>` shows one. */
import { homedir } from "node:os";
import { join } from "node:path";
import { agentsDirs, discoverPresets, findPreset, subagentsDirs } from "@pi-subagents/presets";

const { presets, problems } = await discoverPresets({
	cwd: process.cwd(),
	agentDir: process.env.PI_CODING_AGENT_DIR ?? join(homedir(), ".pi", "agent"),
	sources: [...agentsDirs(), ...subagentsDirs()],
});
for (const { path, line, message } of problems) console.error(`${path}:${line} ${message}`);

const [wanted] = process.argv.slice(2);
if (wanted === undefined) {
	for (const { name, source, description } of presets)
		console.log(`${name.padEnd(16)} ${source.kind.padEnd(8)} ${description}`);
} else {
	const preset = findPreset(presets, wanted);
	if (preset) console.log(`${preset.name} (${preset.model ?? "the session's model"})\n\n${preset.prompt}`);
	else {
		console.error(`There is no preset ${JSON.stringify(wanted)}.`);
		process.exitCode = 1;
	}
}
