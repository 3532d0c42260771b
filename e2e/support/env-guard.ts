/** A guard that lets nobody read `.env` files, and agents that try. */
import { callTool, type PiBinary, type PiEnvOptions, runJson, say } from "@pi-subagents-dev/testkit";
import { asRepository } from "./repository.ts";
import { delegate, isScout, parentSays, type Scene, scene, scoutSays, unfenced } from "./scene.ts";

/** The one line that many users have. */
export const ONE_LINE_GUARD = `export default (pi) => { pi.on("tool_call", (event) => JSON.stringify(event.input).includes(".env") ? { block: true, reason: "Nobody reads .env files." } : undefined); };\n`;

export const REFUSAL = "Nobody reads .env files.";
export const SECRET = "heliotrope-7";

/** The agent reads the secret; its last result is what it says. */
const readsSecret = scoutSays(callTool("read", { path: "secret.env" }), ({ lastToolResults }) =>
	say(`It says: ${lastToolResults[0]?.text}`),
);

export interface GuardedOptions extends Omit<PiEnvOptions, "server"> {
	/** Our settings, in the user's directory. */
	subagents?: Record<string, unknown>;
	/** More of the call. */
	call?: Record<string, unknown>;
	/** pi's arguments. */
	args?: readonly string[];
	pi?: PiBinary | undefined;
	onScene?: (it: Scene) => unknown;
	/** The project is a git repository. */
	isRepository?: boolean;
}

/** What the parent's model reads of an agent that tried to read the secret. */
export async function secretReadBy({
	call,
	args = [],
	pi,
	onScene,
	isRepository,
	...options
}: GuardedOptions): Promise<string> {
	await using it = await guardedScene(options, [parentSays(delegate("Read it.", call), say("I see.")), readsSecret]);
	await onScene?.(it);
	if (isRepository) await asRepository(it);
	await runJson({ env: it.env, args: [...args], ...(pi && { pi }) }, "Please delegate.");
	const read = it.server.requests.filter(isScout).flatMap(({ lastToolResults }) => lastToolResults);
	const heard = it.server.requests
		.filter((request) => !isScout(request))
		.flatMap(({ lastToolResults }) => lastToolResults);
	return unfenced([...read, ...heard].map(({ text }) => text).join("\n"));
}

export function guardedScene(
	{
		subagents = {},
		files,
		agentFiles,
		...options
	}: Omit<GuardedOptions, "call" | "args" | "pi" | "onScene" | "isRepository">,
	rules: Parameters<typeof scene>[0],
): Promise<Scene> {
	return scene(rules, {
		...options,
		files: { "secret.env": `CODE=${SECRET}\n`, ...files },
		agentFiles: { "subagents.json": JSON.stringify(subagents), ...agentFiles },
	});
}
