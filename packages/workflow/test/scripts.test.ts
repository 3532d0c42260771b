/** Scripts as people write them for other programs with the same globals: they run unchanged. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentResult } from "@pi-subagents/workflow";
import { expect, test } from "vitest";
import { type Agent, start, type Trial } from "./support.ts";

const DIR = join(import.meta.dirname, "scripts");
const ONE_PACKAGE = `export const meta = { name: "one-package", description: "One" }
return (await agent("Look at " + args.name)).length`;

const says = (text: string): AgentResult => ({ status: "completed", text, tokens: 10 });
const gives = (data: unknown): AgentResult => ({ status: "completed", text: "", data, tokens: 10 });

interface Case extends Trial {
	value: unknown;
	prompts: number;
	phases?: string[];
}

const bugs = ({ prompt }: { prompt: string }): AgentResult => {
	if (prompt.startsWith("Judge")) return gives({ real: !prompt.includes("false alarm") });
	if (prompt.includes("none"))
		return gives({
			bugs: [
				{ file: "a.ts", line: 1, desc: prompt.includes("input") ? "off by one" : "off by one" },
				{ file: "b.ts", line: 2, desc: "false alarm" },
			],
		});
	return gives({ bugs: [{ file: "a.ts", line: 1, desc: "off by one" }] });
};

const judge: Agent = ({ prompt, label }) => {
	if (prompt.startsWith("Score")) return gives({ score: prompt.includes("risk") ? 9 : 1 });
	if (label === "design 3") return { status: "failed", error: "out of credit", tokens: 1 };
	return says(prompt.startsWith("Write") ? prompt.slice(0, 40) : prompt);
};

const CASES: Record<string, Case> = {
	"flaky-tests.js": {
		agent: ({ schema, isolation }) => (schema ? gives({ tests: ["a", "b"] }) : says(String(isolation))),
		value: { fixed: 2, of: 2 },
		prompts: 3,
		phases: ["Scan", "Fix"],
	},
	"review-dimensions.js": {
		agent: ({ prompt }) =>
			prompt.startsWith("Find")
				? gives({ findings: [{ title: prompt.includes("bugs") ? "a bug" : "slow", file: "a.ts" }] })
				: gives({ isReal: prompt.includes("a bug") }),
		value: { confirmed: [{ title: "a bug", file: "a.ts", verdict: { isReal: true } }] },
		prompts: 4,
	},
	"until-dry.js": {
		agent: bugs,
		value: [
			{ file: "a.ts", line: 1, desc: "off by one" },
			{ file: "a.ts", line: 1, desc: "off by one" },
		],
		prompts: 18,
		phases: ["Find"],
	},
	"until-budget.js": {
		agent: () => gives({ bugs: [1, 2] }),
		budget: 45,
		value: { bugs: 6, spent: 30 },
		prompts: 3,
	},
	"judge-panel.js": {
		agent: judge,
		args: { task: "a cache" },
		value: "Write down: Design: a cache. Angle: risk",
		prompts: 8,
		phases: ["Design", "Judge", "Write"],
	},
	"nested-map.js": {
		agent: ({ prompt }) => says(prompt),
		load: async () => ONE_PACKAGE,
		value: { core: 12, tools: 13, report: 14 },
		prompts: 3,
	},
};

test("each script has a case", () => {
	expect(Object.keys(CASES).sort()).toEqual(readdirSync(DIR).sort());
});

test.each(Object.keys(CASES))("%s runs unchanged, and again from its journal without an agent", async (name) => {
	const { value, prompts, phases = [], ...trial } = CASES[name] as Case;
	const script = readFileSync(join(DIR, name), "utf8");
	const first = start(script, trial);
	expect(await first.result).toEqual({ status: "completed", value });
	expect(first.prompts).toHaveLength(prompts);
	expect(first.run.state.phases).toEqual(phases);
	const events = first.events.filter(({ type }) => type !== "ended");
	const again = start(script, { ...trial, events });
	expect(await again.result).toEqual({ status: "completed", value });
	expect(again.prompts).toEqual([]);
	expect(again.run.state.diverged).toBeUndefined();
});
