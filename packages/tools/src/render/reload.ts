/**
 * Keeps rows readable over `/reload`: pi draws the conversation before the new extension knows its session and offers
 * its tools, and would show their calls as raw JSON. The old tools therefore stand in until then.
 */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";

/** A reload evaluates our modules again, so only what is global survives it. */
const KEPT = Symbol.for("@pi-subagents/tools:reload");

/** Call it before a session starts. Call the returned function with the tools, each time they are offered. */
export function keepRowsOverReload(pi: ExtensionAPI): (tools: readonly ToolDefinition[]) => void {
	const standIns = takeKept();
	for (const tool of standIns) pi.registerTool({ ...tool, execute: refuse });
	let offered: readonly ToolDefinition[] = [];
	pi.on("session_shutdown", ({ reason }) => {
		if (reason === "reload") (globalThis as Kept)[KEPT] = offered;
	});
	return (tools) => {
		offered = tools;
		const names = new Set(tools.map(({ name }) => name));
		// The settings may have changed: a stand-in that is not offered again must go.
		const gone = new Set(standIns.splice(0).flatMap(({ name }) => (names.has(name) ? [] : [name])));
		if (gone.size > 0) pi.setActiveTools(pi.getActiveTools().filter((name) => !gone.has(name)));
	};
}

type Kept = { [KEPT]?: readonly ToolDefinition[] };

function takeKept(): ToolDefinition[] {
	const global = globalThis as Kept;
	const kept = global[KEPT] ?? [];
	delete global[KEPT];
	return [...kept];
}

function refuse(): never {
	throw new Error("The extension is reloading; call the tool again.");
}
