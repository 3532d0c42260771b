/** Keeps a child in a process of its own in the checkout that it has for itself. Which one, its environment says. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { RunSpec } from "../../runner.ts";
import { createGuard } from "../../worktree/guard.ts";

const VARIABLE = "PI_SUBAGENTS_CONFINED_TO";

/** What the child's environment must hold. */
export function confinementVariables({
	confinedTo,
	memoryDir,
}: Pick<RunSpec, "confinedTo" | "memoryDir">): Record<string, string> {
	if (!confinedTo) return {};
	const { root, watches } = confinedTo;
	return { [VARIABLE]: JSON.stringify([root, watches, memoryDir === undefined ? [] : [memoryDir]]) };
}

export function guardCheckout(pi: ExtensionAPI, env: NodeJS.ProcessEnv): void {
	const said = env[VARIABLE];
	if (!said) return;
	const [root, watches, alsoWritable] = JSON.parse(said) as [string, string[], string[]]; // our own words
	const guard = createGuard({ root, watches }, { alsoWritable });
	pi.on("tool_call", async ({ toolCallId: id, toolName: tool, input }, { cwd }) => {
		const reason = await guard.before({ id, tool, input, cwd });
		return reason === undefined ? undefined : { block: true, reason };
	});
	pi.on("tool_result", async ({ toolCallId: id, toolName: tool, content }) => {
		const wrong = await guard.after({ id, tool });
		return wrong === undefined ? undefined : { content: [...content, { type: "text", text: wrong }], isError: true };
	});
}
