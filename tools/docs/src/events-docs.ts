/** The events of the bus for people. The committed `docs/events.md` must equal it, and a test compares it with what is emitted. */
import { type AgentNews, type LifecycleEvent, type LifecycleEvents, lifecycleChannels } from "@pi-subagents/rpc";

export interface FieldDoc {
	type: string;
	meaning: string;
	/** It is not always there. */
	isOptional?: true;
}

/** Fails to compile when a field has no words. */
export type FieldDocs<Payload> = { readonly [Key in KeysOf<Payload>]: FieldDoc };

type KeysOf<Payload> = Payload extends unknown ? keyof Payload : never;

interface EventDoc<Payload> {
	when: string;
	fields: FieldDocs<Payload>;
}

const news: FieldDocs<AgentNews> = {
	id: { type: "string", meaning: "of the agent" },
	type: { type: "string", meaning: "the name of its preset" },
	description: { type: "string", meaning: "a few words for people" },
	depth: { type: "number", meaning: "1 for an agent that the session launched" },
	parentAgentId: { type: "string", meaning: "the agent that launched it, if one did", isOptional: true },
};

const settled: FieldDocs<LifecycleEvents["completed"]> = {
	...news,
	result: { type: "string", meaning: "its answer, or what it had said before it ended", isOptional: true },
	error: { type: "string", meaning: "what went wrong, or who stopped it", isOptional: true },
	status: {
		type: "string",
		meaning:
			"`completed`, or `steered` when it was asked to finish at its turn limit; `error`, `stopped` (by the user, an agent, another extension or the end of the session) or `aborted` (by a limit)",
	},
	toolUses: { type: "number", meaning: "how many tools it called" },
	durationMs: {
		type: "number",
		meaning:
			"how long it worked, in whole milliseconds, without the time in the queue; changes of the system clock do not matter",
	},
	tokens: {
		type: "{ input, output, total }",
		meaning: "new work only: `total` is input, output and what was written to the cache",
		isOptional: true,
	},
	usage: { type: "object", meaning: "everything that was billed, in pi's own format", isOptional: true },
	structured: { type: "any", meaning: "the answer as data, if the call or the preset has a schema", isOptional: true },
	outcome: {
		type: "Outcome",
		meaning: "the same as an `Outcome` (`completed`, `failed`, `aborted` with `by`), with every detail",
	},
};

export const busEvents: { readonly [Event in LifecycleEvent]: EventDoc<LifecycleEvents[Event]> } = {
	ready: { when: "a session is open and requests are answered; again after a reload", fields: {} },
	created: {
		when: "an agent was accepted, from any source: a tool, a command, a schedule, another agent, another extension",
		fields: {
			...news,
			isBackground: { type: "boolean", meaning: "the call that launched it does not wait for it" },
		},
	},
	started: { when: "it began to work; again when it is resumed", fields: news },
	completed: { when: "it completed", fields: settled },
	failed: {
		when: "it failed, was stopped, or was not launched after its id had been returned",
		fields: settled,
	},
	resumed: {
		when: "the run of a resumed agent has ended, however it ended; comes after `completed` or `failed`",
		fields: settled,
	},
	steered: {
		when: "it got another instruction",
		fields: { id: news.id, message: { type: "string", meaning: "the instruction" } },
	},
	compacted: {
		when: "its context was shortened",
		fields: {
			...news,
			reason: { type: '"manual" | "threshold" | "overflow"', meaning: "why", isOptional: true },
			tokensBefore: { type: "number", meaning: "how many tokens its context held", isOptional: true },
			compactionCount: { type: "number", meaning: "how many times its context has been shortened" },
		},
	},
	entry: {
		when: "it finished a step: a message, a thought (while someone reads `subagents:delta`), a tool, an error",
		fields: {
			v: { type: "1", meaning: "the format" },
			agentId: news.id,
			seq: { type: "number", meaning: "counts the steps of the agent from 0" },
			kind: { type: '"text" | "thinking" | "tool" | "error"', meaning: "what kind of step" },
			text: { type: "string", meaning: "what it wrote; for a tool, a line for people. Not sanitized for a terminal" },
			tool: { type: "string", meaning: "the tool", isOptional: true },
			durationMs: { type: "number", meaning: "how long the tool took", isOptional: true },
			isError: { type: "boolean", meaning: "whether it failed", isOptional: true },
			blockId: { type: "number", meaning: "the block that `subagents:delta` sent before", isOptional: true },
			toolCallId: { type: "string", meaning: "empty" },
			index: { type: "number", meaning: "the same as `seq`, for dashboards" },
			entry: {
				type: "object",
				meaning: "the same step in the form that dashboards read: `{ kind, text, ts, toolName?, input?, isError? }`",
			},
		},
	},
	delta: {
		when: "it writes or thinks: at most four times a second for each agent, and at the end of each block. Sent only while a listener reads `agentId`; each run begins with an empty block that detects listeners",
		fields: {
			v: { type: "1", meaning: "the format" },
			agentId: news.id,
			toolCallId: { type: "string", meaning: "empty" },
			blockId: { type: "number", meaning: "counts the blocks of the agent from 0; a block may be empty" },
			kind: { type: '"text" | "thinking"', meaning: "what it is" },
			offset: {
				type: "number",
				meaning: "where the text begins in its block, in UTF-16 code units; a gap means that a piece is missing",
			},
			text: { type: "string", meaning: "what was added. Not sanitized for a terminal" },
			final: {
				type: "boolean",
				meaning: "the last piece of its block; each block has exactly one, before the `subagents:entry` with its text",
			},
		},
	},
	scheduled: {
		when: "a job was added, changed or removed, launched its agent (`fired`), or could not (`error`)",
		fields: {
			type: { type: '"added" | "updated" | "removed" | "fired" | "error"', meaning: "which of these" },
			job: { type: "object", meaning: "with `added` and `updated`", isOptional: true },
			jobId: { type: "string", meaning: "with `removed`, `fired` and `error`", isOptional: true },
			agentId: { type: "string", meaning: "with `fired`", isOptional: true },
			name: { type: "string", meaning: "with `fired`", isOptional: true },
			error: { type: "string", meaning: "with `error`", isOptional: true },
		},
	},
	scheduler_ready: {
		when: "the jobs of a session are being watched",
		fields: {
			sessionId: { type: "string", meaning: "of the session" },
			jobCount: { type: "number", meaning: "how many there are" },
		},
	},
	settings_loaded: {
		when: "the settings were read for the first time",
		fields: { settings: { type: "object", meaning: "[all settings](settings.md)" } },
	},
	settings_changed: {
		when: "the settings have changed",
		fields: {
			settings: { type: "object", meaning: "[all settings](settings.md)" },
			persisted: { type: "boolean", meaning: "always true: settings come from files" },
		},
	},
	"child:session-created": {
		when: "a pi session for an agent exists, and no other extension has run in it yet",
		fields: {
			sessionId: { type: "string", meaning: "of that session" },
			parentSessionId: {
				type: "string",
				meaning: "of the session that it belongs to; absent where no one can answer a question",
				isOptional: true,
			},
		},
	},
	"child:bound": {
		when: "the extensions of that session are bound, if it has any",
		fields: { sessionId: { type: "string", meaning: "of that session" } },
	},
	"child:disposed": {
		when: "that session is gone",
		fields: { sessionId: { type: "string", meaning: "of that session" } },
	},
};

export function eventsMarkdown(): string {
	const sections = Object.entries(busEvents).map(([event, { when, fields }]) => {
		const rows = fieldRows(fields);
		const table =
			rows.length === 0 ? "It has no fields." : `| field | type | meaning |\n|---|---|---|\n${rows.join("\n")}`;
		return `## \`${lifecycleChannels[event as LifecycleEvent]}\`\n\nWhen ${when}.\n\n${table}`;
	});
	return `# Events on the bus

Generated from \`tools/docs/src/events-docs.ts\`; do not edit.

What other extensions can hear on \`pi.events\`. The types are in [\`@pi-subagents/rpc\`](../packages/rpc/README.md); how to ask for something is in [rpc.md](rpc.md).

\`\`\`ts
pi.events.on("subagents:completed", ({ id, result }) => console.log(id, result));
\`\`\`

Events cover all agents of the tree, including those that agents launched. Restored events are not emitted again when a session is opened. A listener that throws affects no other; payloads are copies.

| event | when |
|---|---|
${Object.entries(busEvents)
	.map(([event, { when }]) => `| \`${lifecycleChannels[event as LifecycleEvent]}\` | ${when} |`)
	.join("\n")}

${sections.join("\n\n")}
`;
}

export function fieldRows(fields: Readonly<Record<string, FieldDoc>>): string[] {
	return Object.entries(fields).map(([name, { type, meaning, isOptional }]) => {
		const cells = [`\`${name}\`${isOptional ? "?" : ""}`, `\`${type}\``, meaning];
		return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
	});
}
