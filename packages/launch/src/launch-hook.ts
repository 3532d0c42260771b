/**
 * The user's own command that sees every launch before it happens. It may refuse, or narrow what the agent gets; it can
 * never give an agent more. A hook that cannot be run or understood refuses the launch: its decision is unknown.
 */
import { homedir } from "node:os";
import { AgentError, allTools, isToolOf, type Limits, type RunSpec, systemClock } from "@pi-subagents/core";
import { clip, defined } from "@pi-subagents/core/internal/base";
import { type CommandEnd, runCommand } from "@pi-subagents/core/shell";
import { sanitize, sanitizeBlock } from "@pi-subagents/progress";
import { type Static, Type } from "typebox";
import { Check, Errors } from "typebox/value";

/** Every launch waits for it. */
const TIMEOUT_MS = 10_000;

/** Of what a hook says. */
const MAX_REASON = 4_000;

/** What a shell ends with if it cannot start a program. */
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

const limit = Type.Optional(Type.Number({ exclusiveMinimum: 0 }));

const answerSchema = Type.Object(
	{
		/** Why the agent is not launched. */
		refuse: Type.Optional(Type.String({ minLength: 1 })),
		/** Those that it keeps, of all that it would have. */
		tools: Type.Optional(Type.Array(Type.String())),
		/** Another model that the launch could have named itself. */
		model: Type.Optional(Type.String({ minLength: 1 })),
		limits: Type.Optional(
			Type.Object(
				{
					maxTurns: limit,
					graceTurns: limit,
					timeoutMs: limit,
					toolTimeoutMs: limit,
					idleTimeoutMs: limit,
					budgetTokens: limit,
					budgetCost: limit,
				} satisfies Record<Exclude<keyof Limits, "wrapUpPercent" | "stalledAfterMs">, unknown>, // these limit nothing
				{ additionalProperties: false },
			),
		),
	},
	{ additionalProperties: false },
);

/** What a hook prints, as JSON; empty output lets the launch continue unchanged. */
export type HookAnswer = Static<typeof answerSchema>;

/** Runs the hook with the spec and all of its tools as JSON on its input, in the user's home: `./hook` must not be a file of the project. */
export async function askLaunchHook(command: readonly string[], spec: RunSpec): Promise<HookAnswer> {
	const end = await runCommand({
		command,
		cwd: homedir(),
		clock: systemClock,
		timeoutMs: TIMEOUT_MS,
		input: JSON.stringify({ ...spec, tools: allTools(spec) }),
	});
	return answerOf(end);
}

/** Throws if the hook refused, or failed. */
export function answerOf({ how, code, why, tail, stdout }: CommandEnd): HookAnswer {
	if (how === "timed_out") throw failed(`did not answer within ${TIMEOUT_MS / 1_000} s`);
	if (how !== "exited") throw failed(`could not be completed${why === undefined ? "" : ` (${why})`}`);
	if (code === NOT_FOUND || code === NOT_EXECUTABLE) throw failed(`could not be started (${tail})`);
	if (stdout === undefined) throw failed("printed too much");
	const answer = stdout.trim() === "" ? {} : parsed(stdout);
	if (answer?.refuse !== undefined) throw refused(answer.refuse);
	if (code !== 0) throw refused(tail || `exit code ${code}`);
	if (answer === undefined) throw failed("printed something that is not JSON; print `{}` to let the launch continue");
	return answer;
}

/** The spec that was resolved with the hook's model, and with no other. Throws if something else decided. */
export function onlyModel({ fallbackModels: _, ...spec }: RunSpec, model: string): RunSpec {
	if (spec.origins.model !== "call")
		throw failed(`chose the model ${model}, but preset "${spec.type}" decides its model itself`);
	return spec;
}

/** The spec with what the hook took away. Throws if it would have given anything. */
export function narrowed(spec: RunSpec, { tools, model, limits = {} }: HookAnswer): RunSpec {
	const all = allTools(spec);
	const added = tools?.filter((name) => !all.some((own) => covers(own, name))) ?? [];
	if (added.length > 0) throw failed(`would give the agent more tools: ${added.join(", ")}`);
	for (const [name, value] of entriesOf(limits)) {
		const present = spec.limits[name];
		if (present !== undefined && value > present)
			throw failed(`would raise \`limits.${name}\` from ${present} to ${value}`);
	}
	const what = [...(tools ? ["tools"] : []), ...(model ? ["the model"] : []), ...Object.keys(limits)];
	if (what.length === 0) return spec;
	return {
		...(tools ? onlyTools(spec, tools) : spec),
		limits: { ...spec.limits, ...limits },
		warnings: [...spec.warnings, `Your \`hooks.before_launch\` changed ${what.join(", ")}.`],
	};
}

/** The spec with these of its tools, ours among them: what is not named, the agent does not get. */
function onlyTools({ mcp, subagents, ...spec }: RunSpec, named: readonly string[]): RunSpec {
	const kept = named.filter((name) => spec.tools.some((own) => covers(own, name)));
	const ours = allTools({ ...spec, tools: [], ...defined({ subagents }) });
	const withheld = [...(spec.withheld ?? []), ...ours.filter((name) => !named.includes(name))];
	const launches = named.includes(LAUNCHES_AGENTS);
	const servers = mcp?.servers.filter((server) => kept.some((name) => isToolOf(name, server))) ?? [];
	return {
		...spec,
		tools: [...new Set(kept)],
		...(withheld.length > 0 && { withheld: [...new Set(withheld)] }),
		...(launches && defined({ subagents })),
		...(mcp && servers.length > 0 && { mcp: { ...mcp, servers } }),
	};
}

const LAUNCHES_AGENTS = "Agent";

/** Of an MCP server that is not connected yet, only a pattern for its tools is known. */
function covers(own: string, name: string): boolean {
	return own === name || (own.endsWith("__*") && name.startsWith(own.slice(0, -1)));
}

function parsed(text: string): HookAnswer | undefined {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return undefined; // the caller says so, unless the exit code already refuses
	}
	if (Check(answerSchema, value)) return value;
	const [error] = Errors(answerSchema, value);
	throw failed(`printed JSON that is not understood: ${error?.instancePath || "the whole"} ${error?.message}`);
}

function entriesOf(limits: Limits): [keyof Limits, number][] {
	return Object.entries(limits) as [keyof Limits, number][];
}

function refused(reason: string): AgentError {
	const why = clip(sanitizeBlock(reason), MAX_REASON);
	return new AgentError("refused", `The launch was refused by \`hooks.before_launch\` of your settings: ${why}`);
}

function failed(what: string): AgentError {
	return new AgentError(
		"refused",
		`\`hooks.before_launch\` of your settings ${clip(sanitize(what), MAX_REASON)}, so the agent was not launched. Fix the hook, or remove it from your settings.`,
	);
}
