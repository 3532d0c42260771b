/**
 * What a script gets from a tool that launches agents. pi's own script runtime (codemode, pi ≥ 0.99) gives a script the
 * structured content of a tool that declares an output schema, of a failed call as well. Older versions of pi ignore all
 * of this, and a failure is thrown there: it must never pass for an answer.
 */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type AgentRecord, addUsage, NO_USAGE, type Outcome } from "@pi-subagents/core";
import { defined } from "@pi-subagents/core/internal/base";
import { outcomeText, verificationText } from "@pi-subagents/progress";
import { type Static, Type } from "typebox";
import { RunFailure } from "./bounded.ts";

const usage = Type.Object({
	input: Type.Number(),
	output: Type.Number(),
	cacheRead: Type.Number(),
	cacheWrite: Type.Number(),
	cost: Type.Number({ description: "US dollars" }),
});

const agent = {
	id: Type.Optional(Type.String({ description: "Absent for several agents and for a job" })),
	status: Type.String({
		description:
			"completed, failed or aborted; queued or running in the background; scheduled. Only completed has an answer",
	}),
	answer: Type.Optional(Type.String()),
	structured: Type.Optional(Type.Unknown({ description: "The answer as data, with an output schema" })),
	error: Type.Optional(Type.String()),
	verification: Type.Optional(Type.String({ description: "How its work was checked, or why it was not" })),
	usage,
	branch: Type.Optional(Type.String({ description: "With the changes of an isolated agent" })),
};

const RESULT = Type.Object(agent);
const RESULTS = Type.Object({
	...agent,
	agents: Type.Optional(Type.Array(RESULT, { description: "With tasks: one for each, in their order" })),
});

/** What a script gets for one agent. */
export type ScriptResult = Static<typeof RESULT>;

/** Scripts that call it get data. */
export function givesData<Tool extends object>(tool: Tool): Tool {
	return { ...tool, outputSchema: RESULTS };
}

/** A tool that only makes sense to a model: it ends the turn, or answers what the model was asked. */
export function forModelsOnly<Tool extends object>(tool: Tool): Tool {
	return { ...tool, exposure: "model-only" };
}

/** `outcome` is absent while it runs. */
export function scriptResultOf(record: AgentRecord, outcome: Outcome | undefined): ScriptResult {
	const { id, status, usage: used } = record;
	const { input, output, cacheRead, cacheWrite, cost } = used;
	const branch = outcome?.worktree?.branch;
	return {
		id,
		status: outcome?.status ?? status,
		...(outcome?.status === "completed" ? answerIn(outcome) : {}),
		...(outcome && outcome.status !== "completed" ? { error: outcomeText(outcome) } : {}),
		usage: { input, output, cacheRead, cacheWrite, cost },
		...defined({ branch }),
	};
}

/** Several agents as one result: it has completed if all of them have. */
export function scriptResultOfAll(results: readonly ScriptResult[]): Static<typeof RESULTS> {
	const failed = results.filter(({ status }) => status !== "completed");
	return {
		status: failed.length === 0 ? "completed" : "failed",
		...(failed.length === 0 ? {} : { error: `${failed.length} of ${results.length} agents did not complete` }),
		usage: results.map((each) => each.usage).reduce(addUsage, NO_USAGE),
		agents: [...results],
	};
}

/**
 * The result of a call that waited for its agents. A run that did not complete is a tool error, so that no model takes it
 * for an answer: returned with its data where pi keeps that, thrown elsewhere.
 */
export function settledResult<Result extends { content: { type: "text"; text: string }[]; details: object }>(
	result: Result,
	data: Static<typeof RESULTS>,
	{ isFailed, ctx }: { isFailed: boolean; ctx: ExtensionContext },
): Result {
	const [{ text } = { text: "" }] = result.content;
	if (isFailed && !("executeTool" in ctx)) throw new RunFailure(text, result.details);
	return { ...result, structuredContent: data, ...(isFailed ? { isError: true } : {}) };
}

function answerIn({ text, structured, verification }: Extract<Outcome, { status: "completed" }>) {
	return {
		answer: text,
		...(structured ? { structured: structured.data } : {}),
		...(verification ? { verification: verificationText(verification) } : {}),
	};
}
