/** `/risks <path>`: another extension's agent looks at a part of the project, and data comes back, not prose. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { connect } from "@pi-subagents/rpc";

interface Risks {
	risks: { file: string; severity: "low" | "high" }[];
}

const outputSchema = {
	type: "object",
	properties: {
		risks: {
			type: "array",
			items: {
				type: "object",
				properties: { file: { type: "string" }, severity: { enum: ["low", "high"] } },
				required: ["file", "severity"],
			},
		},
	},
	required: ["risks"],
};

export default function risks(pi: ExtensionAPI): void {
	pi.registerCommand("risks", {
		description: "Which files of a directory are risky to change?",
		async handler(args, ctx) {
			const path = args.trim() || ".";
			// Rejects without an answer: the user may not have installed the extension that runs agents.
			const subagents = await connect(pi.events, { timeoutMs: 2_000 });
			try {
				const prompt = `Which files below ${path} are risky to change, and how much?`;
				const { id } = await subagents.spawn({ type: "Explore", description: "find risks", prompt, outputSchema });
				const outcome = await subagents.wait<Risks>(id);
				if (outcome.status !== "completed" || !outcome.structured) {
					ctx.ui.notify(`The agent could not say: ${outcome.status}`, "warning");
					return;
				}
				const high = outcome.structured.data.risks.filter(({ severity }) => severity === "high");
				ctx.ui.notify(`${high.length} risky: ${high.map(({ file }) => file).join(", ")}`, "info");
			} finally {
				subagents.close();
			}
		},
	});
}
