import { isFullRun } from "@pi-subagents-dev/testkit/full-run";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { translate } from "../../src/settings/foreign.ts";
import { settingsSchema } from "../../src/settings/schema.ts";
import { isLimitAt, readSettings } from "../../src/settings/settings.ts";
import { isGroup, type Shape, settingsShape } from "../../src/settings/shape.ts";

/** Small, fast and repeatable. */
function random(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

/** `tools/fuzz` tries changed examples of whole files in the gate as well. */
const VALUES = isFullRun ? 500 : 40;
const FILES = isFullRun ? 3_000 : 300;

const next = random(20_260_102);
const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item;

const TEXTS = [
	"",
	"queue",
	"turn",
	"all",
	"agents",
	"claude",
	"__proto__",
	"constructor",
	"\u001b[31m\u202e",
	"\ud800",
];
const NUMBERS = [0, 1, 4, 14.5, -1, 99_999, 100_001, 2 ** 53, 1e308];

function anyJson(depth = 0): unknown {
	const kind = next() * (depth > 3 ? 0.7 : 1);
	if (kind < 0.1) return null;
	if (kind < 0.2) return next() < 0.5;
	if (kind < 0.45) return oneOf(NUMBERS);
	if (kind < 0.7) return next() < 0.1 ? "x".repeat(10_000) : oneOf(TEXTS);
	const inner = Array.from({ length: Math.floor(next() * 4) }, () => anyJson(depth + 1));
	if (kind < 0.85) return inner;
	return Object.fromEntries(inner.map((value) => [oneOf([...TEXTS, "days", "megabytes", "maxDepth"]), value]));
}

/** The keys that are set as a whole, as ways through the groups. */
function leaves(shape: Shape): string[][] {
	if (!isGroup(shape)) return [[]];
	const parts = Object.entries(shape.properties ?? { Explore: Object.values(shape.patternProperties ?? {})[0] ?? {} });
	return parts.flatMap(([key, part]) => leaves(part).map((way) => [key, ...way]));
}

const at = (value: unknown, way: readonly string[]): unknown =>
	way.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
const nested = (way: readonly string[], value: unknown) => way.reduceRight((inner, key) => ({ [key]: inner }), value);
const read = (value: unknown) => readSettings([{ path: "x.json", text: JSON.stringify(value) }]);
const defaults = read({}).settings;

/** What chance would not find. */
const VALID: Readonly<Record<string, unknown>> = {
	"launchers.Explore": { command: ["env"], env: { A: "b" } },
	"machines.Explore.nats": "nats://127.0.0.1:4222",
	"machines.Explore.tokenFile": "/keys/token",
	"machines.Explore.nkeyFile": "/keys/nkey",
	"machines.Explore.keyFile": "/keys/key",
	"machines.Explore.caFile": "/keys/ca.pem",
};

test.each(leaves(settingsShape).map((way) => [way.join("."), way] as const))(
	"whatever %s holds, it is used or costs exactly one problem",
	(name, way) => {
		let used = 0;
		for (let index = 0; index < VALUES; index++) {
			const value = index === 0 ? (VALID[name] ?? at(defaults, way) ?? {}) : anyJson();
			const { settings, problems, refusals } = read(nested(way, value));
			expect(Check(settingsSchema, settings), JSON.stringify(value)).toBe(true);
			if (problems.length === 0) used++;
			const { content } = translate(nested(way, value) as Record<string, unknown>);
			expect(at(settings, way)).toEqual(at(problems.length === 0 ? content : defaults, way));
			if (problems.length > 0) {
				const end = isLimitAt(way) ? "" : "; ignored";
				expect(problems).toEqual([expect.stringMatching(`^x\\.json:1: "${name}" is .+, expected .+${end}$`)]);
				expect(refusals).toHaveLength(isLimitAt(way) ? 1 : 0);
				expect(problems[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\ud800-\udfff]/);
				expect(problems[0]?.length).toBeLessThan(400);
			}
		}
		expect(used).toBeGreaterThan(0);
		expect(used).toBeLessThan(VALUES);
	},
);

test("whatever a file contains, the result is valid settings", () => {
	const keys = [...Object.keys(settingsShape.properties ?? {}), ...TEXTS, "subagents"];
	for (let index = 0; index < FILES; index++) {
		const content = Object.fromEntries(Array.from({ length: 4 }, () => [oneOf(keys), anyJson()]));
		const text = JSON.stringify(next() < 0.1 ? anyJson() : content);
		const torn = next() < 0.2 ? text.slice(0, next() * text.length) : text;
		const files = [
			{ path: "a", text, under: "subagents" },
			{ path: "b", text: torn },
		];
		expect(Check(settingsSchema, readSettings(files).settings), torn).toBe(true);
	}
	expect({}).not.toHaveProperty("days");
});
