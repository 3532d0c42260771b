/** Keeps a child in its own process out of git directories and inside its checkout, which its environment names. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { Confinement, RunSpec } from "@pi-subagents/core";
import { gitRefusal } from "@pi-subagents/core/internal/files";
import { createCheckoutGuard } from "@pi-subagents/worktree";

const VARIABLE = "PI_SUBAGENTS_CONFINED_TO";

/** The variables for the child's environment. */
export function confinementVariables({
	confinedTo,
	memoryDir,
}: Pick<RunSpec, "confinedTo" | "memoryDir">): Record<string, string> {
	if (!confinedTo) return {};
	const { origin: _, ...checkout } = confinedTo;
	return { [VARIABLE]: JSON.stringify([checkout, memoryDir === undefined ? [] : [memoryDir]]) };
}

export function guardCheckout(pi: ExtensionAPI, env: NodeJS.ProcessEnv): void {
	pi.on("tool_call", ({ toolName: tool, input }, { cwd }) => {
		const reason = gitRefusal({ tool, input, cwd });
		return reason === undefined ? undefined : { block: true, reason };
	});
	const said = env[VARIABLE];
	if (!said) return;
	const [checkout, alsoWritable] = JSON.parse(said) as [Omit<Confinement, "origin">, string[]]; // written by `confinementVariables`
	const guard = createCheckoutGuard(checkout, { alsoWritable });
	pi.on("tool_call", async ({ toolCallId: id, toolName: tool, input }, { cwd }) => {
		const reason = await guard.before({ id, tool, input, cwd });
		return reason === undefined ? undefined : { block: true, reason };
	});
	pi.on("tool_result", async ({ toolCallId: id, toolName: tool, content }) => {
		const wrong = await guard.after({ id, tool });
		return wrong === undefined ? undefined : { content: [...content, { type: "text", text: wrong }], isError: true };
	});
}
