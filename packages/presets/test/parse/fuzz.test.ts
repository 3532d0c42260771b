import { isFullRun } from "@pi-subagents-dev/testkit/full-run";
import { expect, test } from "vitest";
import { type Flavour, parsePreset } from "../../src/index.ts";
import { generate, random } from "./hostile-texts.ts";

const count = isFullRun ? 10_000 : 1_000;
const flavours: readonly Flavour[] = ["subagents", "agents", "claude", "opencode"];

test(`${count} generated files never throw, always end, and always answer`, () => {
	const next = random(20_260_101);
	let presets = 0;
	for (let index = 0; index < count; index++) {
		const text = generate(next);
		const flavour = flavours[index % flavours.length] ?? "subagents";
		const result = parsePreset(text, {
			path: `/x/f${index}.md`,
			source: { kind: "project", flavour, inProject: true },
		});
		if (result.preset !== undefined) presets++;
		// Claude Code takes no file without frontmatter for an agent.
		else if (flavour !== "claude" || text.includes("---\n"))
			expect(
				result.problems.some(({ severity }) => severity === "error"),
				JSON.stringify(text),
			).toBe(true);
		for (const { message, line } of result.problems) {
			expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
			expect(message.length).toBeLessThan(600);
			expect(line).toBeGreaterThan(0);
		}
		for (const shown of [result.preset?.name, result.preset?.description])
			expect(shown ?? "").not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
		expect((result.preset?.description ?? "").length).toBeLessThanOrEqual(1000);
	}
	expect(presets).toBeGreaterThan(count / 5);
	expect(Object.prototype).not.toHaveProperty("x");
});
