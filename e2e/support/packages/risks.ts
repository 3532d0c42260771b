/** The example that delegates over RPC, in real pi beside the extension: who asks, who answers, and what comes of it. */
import { type PiEnv, type Rule, say, startRpc, when } from "@pi-subagents-dev/testkit";

const answer = {
	risks: [
		{ file: "src/store.js", severity: "high" },
		{ file: "src/tracker.js", severity: "low" },
	],
};

/** The first answer matches nothing; the agent is asked again and mends it. */
export const riskRules: readonly Rule[] = [
	when(
		({ messages }) => messages.some(({ text }) => text.includes("risky to change")),
		({ messages }) => {
			const said = messages.filter(({ role }) => role === "assistant").length;
			return say(said === 0 ? "The store is risky, I think." : `\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``);
		},
	),
];

/** What the user sees after `/risks src`. Runs in plain Node, too, which knows no `await using`. */
export async function askForRisks(env: PiEnv, extensions: readonly string[]): Promise<string> {
	const pi = startRpc({ env, extensions });
	try {
		await pi.send({ type: "prompt", message: "/risks src" });
		const shown = await pi.waitFor((event) => event.type === "extension_ui_request" && event.method === "notify");
		return "message" in shown ? String(shown.message) : "";
	} finally {
		await pi.close();
	}
}
