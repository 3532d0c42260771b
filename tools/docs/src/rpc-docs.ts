/** The methods of the RPC for people. The committed `docs/rpc.md` must equal it. */
import {
	type AgentDefinition,
	type AgentInfo,
	type Method,
	PROTOCOL_VERSION,
	REGISTER_EVENT,
	type Requests,
	requestChannels,
	type SpawnOptions,
} from "@pi-subagents/rpc";
import { type FieldDocs, fieldRows } from "./events-docs.ts";

interface MethodDoc<Request> {
	does: string;
	fields: FieldDocs<Request>;
	/** What `data` of the reply is. */
	answers: string;
	/** The errors that callers can rely on. */
	errors?: readonly string[];
}

const agentId = { type: "string", meaning: "the id of an agent, or its name" };
const NOT_FOUND = "Agent not found";
const OWNED = "Agent is owned by another agent or workflow";
const NOT_RUNNING = "Agent is not running";

const rpcMethods: { readonly [M in Method]: MethodDoc<Requests[M]> } = {
	ping: {
		does: "Says that the extension is loaded, even before a session is open.",
		fields: {},
		answers: `\`{ version: ${PROTOCOL_VERSION}, capabilities }\`: what is supported beyond version ${PROTOCOL_VERSION}`,
	},
	spawn: {
		does: "Launches an agent, by the same rules as any other launch, and returns at once.",
		fields: {
			type: {
				type: "string",
				meaning:
					"the name of a preset; an unknown one is an error that names the known ones, unless there is a `fallbackSubagent`",
			},
			prompt: { type: "string", meaning: "the task" },
			options: { type: "object", meaning: "see below", isOptional: true },
		},
		answers: "`{ id }`",
		errors: ["No active session"],
	},
	stop: {
		does: "Stops an agent and its sub-agents.",
		fields: { agentId },
		answers: "nothing",
		errors: [NOT_FOUND, OWNED, NOT_RUNNING],
	},
	consume: {
		does: "Says that the caller has shown the result, so the session gets no message about it. This works inside a listener of `subagents:completed`, within 200 ms after it, and as long as the session is busy with other work.",
		fields: { agentId },
		answers: "nothing",
		errors: ["Agent not found or still running"],
	},
	status: {
		does: "Looks at an agent.",
		fields: { agentId },
		answers: "what is known about it, see below",
		errors: [NOT_FOUND],
	},
	result: {
		does: "Reads how an agent ended.",
		fields: { agentId },
		answers: "what [`subagents:completed`](events.md) carries",
		errors: [NOT_FOUND],
	},
	wait: {
		does: "Waits for an agent. The answer comes when it has settled, however long that takes.",
		fields: { agentId },
		answers: "what [`subagents:completed`](events.md) carries",
		errors: [NOT_FOUND],
	},
	list: {
		does: "Lists all agents of the session, including sub-agents.",
		fields: {},
		answers: "an array of what `status` answers",
	},
	cost: {
		does: "Says what agents have cost so far.",
		fields: {
			agentId: { ...agentId, meaning: "one agent with its sub-agents; all agents when absent", isOptional: true },
		},
		answers:
			"`{ cost, tokens, usage, agents }`: US dollars, `{ input, output, total }` of new work, everything that was billed in pi's own format, and the number of agents",
		errors: [NOT_FOUND],
	},
	workflow: {
		does: "Runs a [workflow](workflows.md) and returns at once. It is an agent from then on: `wait`, `result`, `status` and `stop` take its id, and what it returned is the result.",
		fields: {
			script: {
				type: "string",
				meaning: "the text of a script; give one of `script`, `path` and `name`",
				isOptional: true,
			},
			path: {
				type: "string",
				meaning: "a script file, in a project that the user trusts or among the user's own workflows",
				isOptional: true,
			},
			name: { type: "string", meaning: "the name of a saved workflow", isOptional: true },
			args: { type: "JSON", meaning: "what the script finds as `args`", isOptional: true },
			isBackground: {
				type: "boolean",
				meaning: "the session gets the result; without it only the caller does",
				isOptional: true,
			},
			signal: { type: "AbortSignal", meaning: "stops the workflow and its agents when it fires", isOptional: true },
		},
		answers: "`{ id }`",
		errors: ["No active session"],
	},
	steer: {
		does: "Gives a running agent another instruction.",
		fields: { agentId, message: { type: "string", meaning: "the instruction" } },
		answers: "nothing",
		errors: [NOT_FOUND, OWNED, NOT_RUNNING],
	},
	registerAgents: {
		does: "Adds presets until the session ends, is reloaded, or they are replaced. All are added, or none. The user's files with the same names take precedence.",
		fields: {
			agents: { type: "object[]", meaning: "up to 200 presets, see below" },
			exclusive: {
				type: "boolean",
				meaning: "only these and the built-in presets exist meanwhile; preset files are not used",
				isOptional: true,
			},
			owner: {
				type: "string",
				meaning:
					"whose presets these are: they replace those that this owner registered before, and an empty list removes them. Without it they replace any registration that shares a name with them",
				isOptional: true,
			},
		},
		answers: "`{ count, exclusive }`",
	},
};

const definition: FieldDocs<KnownFields<AgentDefinition>> = {
	name: { type: "string", meaning: "what it is launched by" },
	systemPrompt: { type: "string", meaning: "the agent's instructions: the body of a preset file" },
	description: { type: "string", meaning: "when to use it; the name when absent", isOptional: true },
	displayName: { type: "string", meaning: "ignored: the name is shown", isOptional: true },
	model: { type: "string", meaning: "`provider/id`, or part of it", isOptional: true },
	thinking: { type: "string", meaning: "`off` to `max`", isOptional: true },
	tools: { type: "string[] | string", meaning: "a complete list", isOptional: true },
	extensions: { type: "boolean | string[]", meaning: "which extensions it loads", isOptional: true },
	skills: { type: "boolean | string[]", meaning: "which skills it has", isOptional: true },
	maxTurns: { type: "number", meaning: "after this many turns it is asked to finish", isOptional: true },
	promptMode: { type: '"append" | "replace" | "auto"', meaning: "`auto` leaves it to us", isOptional: true },
};

/** Without the index signature. */
type KnownFields<T> = { [Key in keyof T as string extends Key ? never : Key]: T[Key] };

const spawnOptions: FieldDocs<Required<SpawnOptions>> = {
	description: { type: "string", meaning: "three to five words for people; made from the prompt when absent" },
	name: { type: "string", meaning: "works like the id, up to 100 characters" },
	model: { type: "string | { provider, id }", meaning: "`provider/id`, part of it, or pi's own model object" },
	maxTurns: { type: "number", meaning: "after this many turns it is asked to finish; 0 is no limit" },
	thinkingLevel: { type: "string", meaning: "`off` to `max`" },
	isolated: { type: "boolean", meaning: "without extensions and skills" },
	isolation: { type: '"worktree" | "off"', meaning: "in its own checkout" },
	machine: { type: "string", meaning: "where it runs: a machine of the settings, `local` or `here`" },
	retry: { type: '"lost" | "off"', meaning: "`lost`: run again, once and from the start, if that machine loses it" },
	inheritContext: { type: "boolean", meaning: "it begins with the conversation of the session" },
	isBackground: {
		type: "boolean",
		meaning: "the session gets the result; without it only the caller does, and the agent goes first in the queue",
	},
	bypassQueue: { type: "boolean", meaning: "ignored: every agent waits for a slot" },
	cwd: { type: "string", meaning: "an absolute path of an existing directory" },
	signal: { type: "AbortSignal", meaning: "stops the agent when it fires" },
	outputSchema: { type: "object", meaning: "a JSON Schema that the answer must match" },
	verify: {
		type: "string | string[] | { command, timeout, output, schema }",
		meaning: "a command that checks its work after its answer, as `verify` in presets",
	},
	structuredOutput: {
		type: "object",
		meaning:
			"an alias of `outputSchema`; may also be a compiled schema that contains its JSON Schema (as `schema`, or as in TypeBox)",
	},
	schema: { type: "object", meaning: "an alias of `outputSchema`" },
	fallbackSubagent: {
		type: "string | false",
		meaning: "the preset to use if `type` does not exist; if absent, the setting of that name counts",
	},
	onBeforeWorktreeCleanup: {
		type: "(path) => unknown",
		meaning:
			"called with the path of the worktree and awaited when the agent has ended by itself, before the worktree is closed",
	},
	invocation: { type: "object", meaning: "kept in the record for its readers; no effect" },
};

export const agentInfo: FieldDocs<AgentInfo> = {
	id: { type: "string", meaning: "of the agent" },
	name: { type: "string", meaning: "its name", isOptional: true },
	type: { type: "string", meaning: "the name of its preset" },
	description: { type: "string", meaning: "a few words for people" },
	status: { type: "string", meaning: "`queued`, `running`, `waiting`, `completed`, `failed` or `aborted`" },
	depth: { type: "number", meaning: "1 for an agent that the session launched" },
	parentAgentId: { type: "string", meaning: "the agent that launched it, if one did", isOptional: true },
	isBackground: { type: "boolean", meaning: "the call that launched it does not wait for it" },
	model: { type: "string", meaning: "`provider/id`", isOptional: true },
	activity: { type: "string", meaning: "what it is doing, as a line for people", isOptional: true },
	question: { type: "string", meaning: "what it asked, while it waits for the answer", isOptional: true },
	turns: { type: "number", meaning: "how many turns it took" },
	toolUses: { type: "number", meaning: "how many tools it called" },
	tokens: { type: "{ input, output, total }", meaning: "new work only" },
	queuedAt: { type: "number", meaning: "milliseconds since the epoch" },
	startedAt: { type: "number", meaning: "milliseconds since the epoch", isOptional: true },
	completedAt: { type: "number", meaning: "milliseconds since the epoch", isOptional: true },
};

export function rpcMarkdown(): string {
	const sections = Object.entries(rpcMethods).map(([method, { does, fields, answers, errors = [] }]) =>
		[
			`## \`${requestChannels[method as Method]}\``,
			does,
			`| field | type | meaning |\n|---|---|---|\n${[REQUEST_ID, ...fieldRows(fields)].join("\n")}`,
			`Answers: ${answers}.${errors.length > 0 ? ` Errors: ${errors.map((error) => `\`${error}\``).join(", ")}.` : ""}`,
		].join("\n\n"),
	);
	return `# Asking for agents from another extension

Generated from \`tools/docs/src/rpc-docs.ts\`; do not edit.

Requests and answers go over \`pi.events\`. With [\`@pi-subagents/rpc\`](../packages/rpc/README.md) they are typed calls; by hand they are two events:

\`\`\`ts
const requestId = crypto.randomUUID();
pi.events.on(\`subagents:rpc:spawn:reply:\${requestId}\`, (reply) => console.log(reply)); // { success: true, data: { id } }
pi.events.emit("subagents:rpc:spawn", { requestId, type: "Explore", prompt: "Where is the parser?" });
\`\`\`

The answer is \`{ success: true, data? }\` or \`{ success: false, error }\`, exactly one, on \`<channel>:reply:<requestId>\`. A request without a usable \`requestId\` (a text of up to 256 characters, or a number) cannot be answered, so nothing is done. Unknown fields are ignored, and so are fields that say where an agent belongs (\`depth\`, \`parentAgentId\` and the like).

We answer as soon as we are loaded, and emit \`subagents:ready\` when a session is open: an extension that was loaded earlier listens for that, one that is loaded later sends a \`ping\`. Do both, with a timeout, since this extension may not be installed. Before a session is open \`spawn\` answers \`No active session\`.

\`ping\`, \`spawn\`, \`stop\` and \`consume\` are protocol version ${PROTOCOL_VERSION}, as other sub-agent extensions have it; the other requests work where \`capabilities\` names them. Three things differ from those extensions: an unknown preset is an error, unless the user has set \`fallbackSubagent\`; every agent waits for a slot; \`onSpawned\`, \`onQueued\` and \`onCompaction\` among the options of \`spawn\` are not called (the [events](events.md) say the same).

${sections.join("\n\n")}

## Options of \`spawn\`

All may be left out; \`null\` is the same.

| option | type | meaning |
|---|---|---|
${fieldRows(spawnOptions).join("\n")}

## Presets of other extensions

Besides these fields every field of a [preset file](../packages/presets/FIELDS.md) can be set, by any of its names. A field that cannot be used, or that looks like a limit and is not understood, is an error.

| field | type | meaning |
|---|---|---|
${fieldRows(definition).join("\n")}

The Agent tool lists them from the next turn on; \`/subagent agents\` and \`doctor\` show them at once, as \`runtime\`. For one preset there is also an event, which is answered before \`emit\` returns:

\`\`\`ts
const request = { version: 1, name: "scout", definition: { description: "Looks around", systemPrompt: "Be quick.", tools: ["read"] } };
pi.events.emit("${REGISTER_EVENT}", request);
// request.result: { ok: true, registration: { dispose() } } or { ok: false, error }; undefined if no one listens
\`\`\`

## What is known about an agent

| field | type | meaning |
|---|---|---|
${fieldRows(agentInfo).join("\n")}

## Without the bus

Code in the same process finds the agents under \`globalThis[Symbol.for("pi-subagents:manager")]\`, of the first session that was opened in it. It is set when the extension is loaded, so that other extensions find it in their own \`session_start\`.

| member | |
|---|---|
| \`spawn(pi, ctx, type, prompt, options)\` | as above, but returns the id at once. A launch that fails becomes a record with \`status: "error"\` and the reason as \`error\`, and \`subagents:failed\` is emitted |
| \`getRecord(id)\` | what \`status\` answers, with the words of version ${PROTOCOL_VERSION} for the status, the result once it has settled, and what follows; \`undefined\` for an unknown id |
| \`hasRunning()\` | whether any agent is running |
| \`waitForAll()\` | resolves when none is; never rejects |

A record is a live view: its fields show the state at the time they are read. Reading them, \`JSON.stringify\`, \`Object.keys\` and the like never throw.

| field | type | meaning |
|---|---|---|
| \`startedAt\` | \`number\` | when it started; until then, when it was accepted |
| \`promise\` | \`Promise<string>\` | resolves with its whole text when its current run has settled; never rejects |
| \`session\` | \`object?\` | \`sessionId\`, \`messages\`, \`subscribe(listener)\` with pi's own events, \`steer(message)\`, \`abort()\`. While it runs inside pi; \`undefined\` before that and afterwards, and for agents in their own processes |
| \`lifetimeUsage\` | \`object\` | \`input\`, \`output\`, \`cacheRead\`, \`cacheWrite\`, \`cost\` of all its runs |
| \`invocation\` | \`object?\` | as the caller of \`spawn\` gave it |
`;
}

const REQUEST_ID = "| `requestId` | `string` | names the channel of the answer |";
