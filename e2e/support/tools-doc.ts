/** `docs/tools.md`: what the model is told of each tool, as pi sent it, beside why the tool is there and a call of it. */
import type { ToolView } from "@pi-subagents-dev/testkit";

interface Shape {
	type?: string | readonly string[];
	description?: string;
	enum?: readonly unknown[];
	const?: unknown;
	anyOf?: readonly Shape[];
	items?: Shape;
	minimum?: number;
	maximum?: number;
	properties?: Readonly<Record<string, Shape>>;
	required?: readonly string[];
}

interface About {
	why: string;
	example: Readonly<Record<string, unknown>>;
}

/** In the order of the page. */
export const about: Readonly<Record<string, About>> = {
	subagent: {
		why: "The answer is needed now. The call waits, its row shows what the agents do, and Escape stops them. A run that fails is an error of the call, so that it cannot pass for an answer.",
		example: { preset: "Explore", task: "Find where login tokens are checked. Report file and line." },
	},
	Agent: {
		why: "The answer can come later. The call returns at once with the agent's id, and a message brings the result, once; agents launched together report together. With `resume` a finished agent continues where it was.",
		example: {
			prompt: "Run the whole test suite and explain each failure.",
			description: "explain failing tests",
			subagent_type: "worker",
			name: "tests",
		},
	},
	start_subagent: {
		why: "The user should get the turn back while the agent works. It must be the only call of its turn.",
		example: { task: "Draft the release notes since the last tag.", role: "worker" },
	},
	background_agent: {
		why: "The work must continue when the session ends. The agent gets its own process; the next session that is opened rejoins it and delivers its result.",
		example: { preset: "worker", task: "Upgrade the dependencies one by one, with the tests after each." },
	},
	background_agent_status: {
		why: "To look at agents of `background_agent`: how many there are, what one does, what it found.",
		example: { runId: "3f0c1a2b" },
	},
	workflow: {
		why: "Many agents, in an order that a script decides: fan-out over a list that is found at run time, pipelines, loops until done. It survives restarts. Off by default: add `workflows` to the setting `toolsets`. Without arguments it returns a guide to scripts and lists the saved ones; see [workflows](workflows.md).",
		example: { name: "review", args: { base: "main" } },
	},
	get_subagent_result: {
		why: "To read one result in full, to wait for it, or to look into the log of a running agent: the last lines, those that match a pattern, or those after a given line.",
		example: { agent_id: "tests", peek: { lines: 20, regex: "fail" } },
	},
	steer_subagent: {
		why: "The task has changed, or the agent is on the wrong track. It reads the message in its next turn, or when it starts if it is still queued.",
		example: { agent_id: "tests", message: "Leave the browser tests out." },
	},
	stop_subagent: {
		why: "The work is no longer needed (`abort`), or the agent should answer with what it has (`wrap_up`). Its sub-agents are stopped with it.",
		example: { id: "tests", mode: "wrap_up", reason: "the first failures are enough" },
	},
	reply_subagent: {
		why: "An agent has asked something and waits.",
		example: { id: "tests", feedback: "Use the staging database." },
	},
	list_models: {
		why: "There are more models than a parameter can name.",
		example: { provider: "anthropic" },
	},
	ask_main_session: {
		why: "Every agent has it, and only agents: to ask instead of guessing. The question goes to the nearest party that can answer: an agent above, the session, the user. If there is none, the tool says so at once.",
		example: {
			question: "Which of the two login pages is the real one?",
			default_answer: "the newer one",
			timeout: 300,
		},
	},
};

export function toolsMarkdown(tools: readonly ToolView[]): string {
	const sections = Object.entries(about).flatMap(([name, { why, example }]) => {
		const tool = tools.find((each) => each.name === name);
		return tool ? [section(tool, why, example)] : [];
	});
	return `# Tools

Generated from what pi sends to the model, by \`vitest run test/docs/docs.test.ts --update\` in \`e2e\`; do not edit.

An agent is named by its id, the beginning of it, or its name. The setting [\`toolsets\`](settings.md) trims the list. Your own text for \`Agent\` goes into \`agent-tool-description.md\` ([how](agent-text.md)). A parameter whose feature is switched off is not there. Where there are at most a dozen models, \`model\` of the first tool that launches names them. The texts for the model are short on purpose: they are paid for with every request.

${sections.join("\n")}`;
}

function section({ name, description, parameters }: ToolView, why: string, example: object): string {
	const [told = ""] = description.split("\nPresets:");
	const shape = parameters as Shape;
	return `## \`${name}\`

${why}

The model reads: *${told}*

| parameter | type | |
|---|---|---|
${rowsOf(shape).join("\n")}

\`\`\`json
${JSON.stringify(example)}
\`\`\`
`;
}

function rowsOf({ properties = {}, required = [] }: Shape, prefix = ""): string[] {
	return Object.entries(properties).flatMap(([name, shape]) => {
		const inner = shape.properties ?? shape.items?.properties;
		const isRequired = required.includes(name);
		const cells = [
			`\`${prefix}${name}\``,
			typeOf(shape),
			`${isRequired ? "**required** " : ""}${shape.description ?? ""}`.trim(),
		];
		const below = inner
			? rowsOf(shape.properties ? shape : (shape.items ?? {}), `${prefix}${name}${shape.items ? "[]" : ""}.`)
			: [];
		return [`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`, ...below];
	});
}

function typeOf(shape: Shape): string {
	if (shape.const !== undefined) return `\`${String(shape.const)}\``;
	if (shape.enum) return shape.enum.map((value) => `\`${String(value)}\``).join(", ");
	if (shape.anyOf?.every((each) => each.const !== undefined))
		return shape.anyOf.map((each) => `\`${String(each.const)}\``).join(", ");
	if (shape.anyOf) return shape.anyOf.map(typeOf).join(" or ");
	if (shape.type === "array") return `list of ${typeOf(shape.items ?? {})}`;
	const from = shape.minimum === undefined ? "" : ` from ${shape.minimum}`;
	const to = shape.maximum === undefined ? "" : ` to ${shape.maximum}`;
	return `${[shape.type ?? "any"].flat().join(" or ")}${from}${to}`;
}
