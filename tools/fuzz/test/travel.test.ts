/** Each field of a run arrives behind each boundary, or is on the list of what stays. */
import type { Outcome, RunSpec } from "@pi-subagents/core";
import { specSchema, travelOf } from "@pi-subagents/core/schema";
import { childEventSchemas, outcomeSchema } from "@pi-subagents/progress/schema";
import fc from "fast-check";
import type { TSchema } from "typebox";
import { describe, expect, test } from "vitest";
import { lifeCycleSchemas } from "../../../packages/core/src/model/schema/events.ts";
import { type LaunchInfo, launchInfoSchema } from "../../../packages/core/src/model/schema/launch.ts";
import { BOUNDARIES, type Boundary, type Crossed, cross, type DefinedRun } from "../src/travel/boundaries.ts";
import { carries, stays } from "../src/travel/stays.ts";
import { changed, type Field, fieldsOf, samplesOf } from "../src/travel/values.ts";

const SEED = 20_251;

const eventSchemas: Record<string, TSchema> = { ...childEventSchemas(), ...lifeCycleSchemas() };
/** Those that say who the agent is and how it ended are made from the other parts. */
for (const type of ["agent_queued", "agent_settled"]) delete eventSchemas[type];
const outcomeSchemas = outcomeSchema().anyOf as readonly TSchema[];

interface Part {
	name: string;
	fields: Field[];
	/** The run with the field changed; undefined if it has only one value. */
	changed(run: DefinedRun, field: Field): DefinedRun | undefined;
	/** The run that has this part. */
	run: DefinedRun;
}

const parts: Part[] = [
	part(
		"spec",
		specSchema(),
		baseRun(0),
		(run) => run.spec,
		(run, spec) => ({ ...run, spec: spec as RunSpec }),
	),
	part(
		"launch",
		launchInfoSchema(),
		baseRun(0),
		(run) => run.launch,
		(run, launch) => ({ ...run, launch: launch as LaunchInfo }),
	),
	...Object.entries(eventSchemas).map(([type, schema]) =>
		part(
			`event ${type}`,
			schema,
			baseRun(0, ...eventsWith(sample(schema) as { type: string })),
			(run) => run.events.at(-1) as object,
			(run, event) => ({ ...run, events: [...run.events.slice(0, -1), event as { type: string }] }),
		),
	),
	...outcomeSchemas.map((schema, index) =>
		part(
			`outcome ${(schema as { properties?: { status: { const: string } } }).properties?.status.const}`,
			schema,
			baseRun(index),
			(run) => run.outcome,
			(run, outcome) => ({ ...run, outcome: outcome as Outcome }),
		),
	),
];

describe("a field of a run", () => {
	test.each(parts.map((each) => [each.name, each] as const))("%s: arrives, or is known to stay", async (name, each) => {
		const before = await cross(each.run);
		const wrong: string[] = [];
		for (const field of each.fields) {
			const other = each.changed(each.run, field);
			if (!other) continue;
			const after = await cross(other);
			wrong.push(
				...BOUNDARIES.filter((each) => carries(each, name)).flatMap((boundary) =>
					fault(name, field, boundary, before, after),
				),
			);
		}
		expect(wrong, wrong.join("\n")).toEqual([]);
	});
});

function fault(name: string, { path }: Field, boundary: Boundary, before: Crossed, after: Crossed): string[] {
	const field = `${name}.${path.join(".")}`;
	const arrives = JSON.stringify(before[boundary]) !== JSON.stringify(after[boundary]);
	const mark =
		name === "spec" ? travelOf((specSchema().properties as Record<string, TSchema>)[path[0] ?? ""] ?? {}) : undefined;
	const isKnown = stays(boundary, field) !== undefined || (boundary === "orders" && mark?.how === "stays");
	if (arrives && isKnown) return [`${field} arrives behind ${boundary}: remove it from the list of what stays`];
	if (!arrives && !isKnown) return [`${field} is lost behind ${boundary}`];
	return [];
}

function part(
	name: string,
	schema: TSchema,
	run: DefinedRun,
	get: (run: DefinedRun) => object,
	set: (run: DefinedRun, value: object) => DefinedRun,
): Part {
	return {
		name,
		run,
		fields: fieldsOf(schema),
		changed(given, field) {
			const value = changed(get(given), withOwnValues(field), SEED + 1);
			return value && set(given, value);
		},
	};
}

/** A directory is absolute, and the recorder writes runs of two runners. */
function withOwnValues(field: Field): Field {
	const [name] = field.path;
	if (name === "cwd" || name === "runsDir") return { ...field, values: field.values.map((dir) => `/${dir}`) };
	if (name === "runner") return { ...field, values: fc.constantFrom("session", "workflow") };
	return field;
}

function baseRun(outcome: number, ...events: { type: string }[]): DefinedRun {
	const spec = sample(specSchema()) as RunSpec;
	return {
		spec: {
			...spec,
			cwd: "/project",
			runsDir: "/runs",
			runner: "session",
			model: "fake/one",
			fallbackModels: ["fake/two"],
			verify: { command: "make", timeoutMs: 5, repairs: 0 },
			output: { schema: {}, repairs: 0 },
			isolation: { kind: "worktree", base: "head" },
		},
		launch: sample(launchInfoSchema()) as LaunchInfo,
		events,
		outcome: acceptable(sample(outcomeSchemas[outcome] as TSchema) as Outcome),
	};
}

/** What comes before it, and last the event itself: an answer needs a question, a fallback the models of the spec. */
function eventsWith(event: { type: string }): { type: string }[] {
	const asked = { type: "agent_asked", question: "Which?" };
	if (event.type === "agent_answered") return [asked, event];
	return [event.type === "falling_back" ? { ...event, ...{ from: "fake/one", to: "fake/two" } } : event];
}

/** What readers accept: a completed run passed its check, and a commit has the form of one. */
function acceptable(outcome: Outcome): Outcome {
	const worktree = outcome.worktree && { ...outcome.worktree, base: "a".repeat(40) };
	const verification = outcome.status === "completed" && { ok: true, command: "make", durationMs: 5 };
	return { ...outcome, ...(worktree && { worktree }), ...(verification && { verification }) } as Outcome;
}

function sample(schema: TSchema): unknown {
	return fc.sample(samplesOf(schema), { numRuns: 1, seed: SEED })[0];
}
