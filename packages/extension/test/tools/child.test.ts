/** The tools that an agent gets from us are those that a hook sees and a preset can deny. */
import { allTools, type RunSpec } from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import { expect, test } from "vitest";
import { type ChildDeps, childTools } from "../../src/tools/child.ts";

const deps = {
	manager: { scope: () => ({}), store: {} },
	launcher: { latest: () => ({ machines: {} }) },
} as unknown as ChildDeps;

const names = (more: Partial<RunSpec>) => {
	const spec: RunSpec = { ...sampleSpec, runner: "session", tools: [], ...more };
	return { made: childTools({ ...spec, agentId: "a1", run: 1 }, deps).map(({ name }) => name), known: allTools(spec) };
};

test.each([{}, { subagents: [] }, { subagents: ["scout"] }, { subagents: "*" as const }])("%j", (more) => {
	const { made, known } = names(more);
	expect(made).toEqual(known);
});
