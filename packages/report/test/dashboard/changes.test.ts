import fc from "fast-check";
import { expect, test } from "vitest";
import { Changes, type Update, updated } from "../../src/dashboard/changes.ts";
import { buildReport, type Report } from "../../src/index.ts";
import { reportAt } from "../../src/model/at-time.ts";
import { family, launched, log, said } from "../fixtures/runs.ts";

const isReport = (update: Update | undefined) => (update?.type === "report" ? update : undefined);
const running = (now: number, steps = 1) =>
	buildReport(
		[
			...family(),
			launched("late", {
				queuedAt: 9_000,
				lines: log(
					[9_100, { type: "agent_started" }],
					...Array.from({ length: steps }, (_, step): [number, ReturnType<typeof said>] => [9_200 + step, said("Hm.")]),
				),
			}),
		],
		{ now },
	);

test("the first update holds everything, a later one only what changed, and time alone is no change", () => {
	const changes = new Changes();
	expect(changes.since(0)).toBeUndefined();
	changes.take(running(20_000));
	expect(isReport(changes.since(0))?.report.agents.map(({ id }) => id)).toEqual(["boss", "scout", "late"]);
	const seen = changes.revision;
	changes.take(running(30_000));
	expect(changes.since(seen)).toBeUndefined();
	changes.take(running(30_000, 2));
	const update = isReport(changes.since(seen));
	expect([update?.order, update?.report.agents.map(({ id }) => id)]).toEqual([["boss", "scout", "late"], ["late"]]);
	expect(changes.since(changes.revision)).toBeUndefined();
});

test("whatever a reader missed, it ends with the same report", () => {
	const report = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }).map((steps) => {
		const runs = steps.map((count, index) =>
			launched(`a${index}`, {
				lines: log(...Array.from({ length: count }, (): [number, ReturnType<typeof said>] => [2_000, said("x")])),
			}),
		);
		return buildReport(runs, { now: 9_000 });
	});
	fc.assert(
		fc.property(fc.array(fc.tuple(report, fc.boolean()), { minLength: 1 }), (history) => {
			const changes = new Changes();
			let known: Report | undefined;
			let revision = 0;
			const look = () => {
				const update = isReport(changes.since(revision));
				if (update) known = updated(known, JSON.parse(JSON.stringify(update)));
				revision = changes.revision;
			};
			for (const [next, isSeen] of history) {
				changes.take(next);
				if (isSeen) look();
			}
			look();
			expect(known).toEqual(history.at(-1)?.[0]);
		}),
	);
});

test("what goes on grows with the time: the page shows what a report of that time would", () => {
	const later = buildReport([launched("q", { queuedAt: 9_000 })], { now: 20_000 });
	expect(reportAt(running(20_000), 31_000)).toEqual({ ...running(31_000), createdAt: 20_000 });
	expect(reportAt(later, 25_000).agents[0]).toMatchObject({
		endedAt: 25_000,
		spans: [{ kind: "queued", end: 25_000 }],
	});
	expect(reportAt(running(20_000), 0)).toEqual(running(20_000)); // a clock that was set back
	const over = buildReport(family(), { now: 20_000 });
	expect(reportAt(over, 31_000)).toBe(over);
});
