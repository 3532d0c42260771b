/** A short form of the long run. `npm run test:long` sends thousands of agents through one pi, and says how long things took. */
import { isFullRun, patienceMs } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { figuresOf, halvesOf } from "../../storm/long-figures.ts";
import { longRun } from "../../storm/long-run.ts";

test("hundreds of agents through one pi leave little behind, and the last ones no more than the first", {
	timeout: patienceMs(10),
}, async () => {
	const { samples, violations, runDirectories } = await longRun({
		agents: isFullRun ? 312 : 156,
		samples: 6,
		longest: 1_000_000,
	});
	expect({ violations, warnings: samples.at(-1)?.warnings }).toEqual({ violations: [], warnings: [] });
	expect(runDirectories).toBe(samples.at(-1)?.agents);
	const [early, late] = halvesOf(samples);
	// Half of a short run says more about when memory was collected than about what agents leave.
	const { heapPerAgent } = isFullRun ? late : figuresOf(samples.slice(1));
	expect(heapPerAgent).toBeLessThan(0.06);
	expect(late.listeners).toBe(early.listeners);
	// What is open at any moment is for those who run at that moment, and for connections that may be used again.
	expect(late.mostDescriptors).toBeLessThanOrEqual(early.mostDescriptors * 1.5 + 10);
	expect(late.mostResources).toBeLessThanOrEqual(early.mostResources * 1.5 + 10);
	expect(late.mostTimers).toBeLessThanOrEqual(early.mostTimers + 5);
});

if (isFullRun)
	test("on a screen as well, where all of them are drawn", { timeout: patienceMs(10) }, async () => {
		const { samples, violations } = await longRun({ agents: 156, samples: 3, isOnScreen: true });
		expect({ violations, warnings: samples.at(-1)?.warnings }).toEqual({ violations: [], warnings: [] });
		const figures = figuresOf(samples.slice(1));
		expect(figures.frames).toBeGreaterThan(0);
		expect(figures.frames).toBeLessThan(figures.agents * 20); // they follow the time, not the events
		expect(figures.heapPerAgent).toBeLessThan(0.12);
		expect(figures.mostTimers).toBeLessThan(10);
	});
