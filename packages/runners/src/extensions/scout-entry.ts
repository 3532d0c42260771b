/**
 * Runs inside the pi of a machine whose worker asks which extensions guard agents there, and answers on standard error.
 * It stays TypeScript: only pi's loader gives it pi's modules.
 */
import { join } from "node:path";
import { isObject, messageOf } from "@pi-subagents/core/internal/base";
import { readSmallFileSync } from "@pi-subagents/core/internal/files";
import { createGuards, type GuardRule } from "./guards.ts";
import { readScoutOrder, type ScoutOrder, scoutAnswer } from "./scouting.ts";

export default async function scout(): Promise<void> {
	const order = readScoutOrder(process.env);
	if (order) process.stderr.write(scoutAnswer(await findGuards(order).catch(messageOf)));
}

async function findGuards({ agentDir, cwd, isTrusted }: ScoutOrder) {
	const rule = ownRule(agentDir);
	const guards = createGuards({
		agentDir,
		session: () => ({ cwd, sessionManager: { getBranch: () => [] } as never }), // it is asked for paths only
		isProjectTrusted: () => isTrusted,
		rule: () => rule,
		argv: [],
	});
	return (await guards.find()).map(({ path, names }) => ({ path, name: names[0] ?? path }));
}

/** The setting `guards` of this machine's user; the file that is only ours is the stronger one. Throws if it is not understood. */
function ownRule(agentDir: string): GuardRule {
	const shared = valueIn(join(agentDir, "settings.json"));
	const under = isObject(shared) && isObject(shared.subagents) ? shared.subagents : {};
	const own = valueIn(join(agentDir, "subagents.json"));
	const { guards = under.guards ?? "on" } = isObject(own) ? own : {};
	if (guards === "on" || guards === "off") return guards;
	const isList = (value: unknown) =>
		value === undefined || (Array.isArray(value) && value.every((name) => typeof name === "string"));
	if (isObject(guards) && isList(guards.exempt) && isList(guards.also)) return guards as GuardRule;
	throw new Error(`The setting \`guards\` in ${agentDir} is not understood.`);
}

function valueIn(path: string): unknown {
	const text = readSmallFileSync(path);
	try {
		return text === undefined ? undefined : JSON.parse(text);
	} catch (error) {
		throw new Error(`${path} is not valid JSON (${messageOf(error)}), so it is not known what guards agents.`);
	}
}
