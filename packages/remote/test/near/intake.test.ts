import { expect, test } from "vitest";
import type { GrowingName, Piece } from "../../src/link/link.ts";
import { INTAKE_LIMITS, Intake } from "../../src/near/intake.ts";

const LIMITS = {
	files: { events: 100, transcript: 100, session: 100, stdout: 50, stderr: 50, live: 10 },
	total: 1_000,
	wrapper: 20,
	result: 30,
	repeats: 3,
};
const bytes = (file: GrowingName, at: number, length: number): Piece => ({
	type: "bytes",
	file,
	at,
	data: Buffer.alloc(length).toString("base64"),
});

test.each<[string, Piece, string]>([
	["an event log that fits", bytes("events", 40, 60), "keep"],
	["an event log that is too long", bytes("events", 41, 60), "end"],
	["an event log that claims to be far along", bytes("events", 2 ** 50, 1), "end"],
	["a conversation that is too long", bytes("session", 0, 102), "end"],
	["output that is too long", bytes("stdout", 49, 6), "skip"],
	["live text that is too long", bytes("live", 0, 12), "skip"],
	["a record of a process that is too long", { type: "wrapper", text: "x".repeat(21) }, "end"],
	["a result that is too long", { type: "result", text: "x".repeat(31) }, "end"],
	["an end", { type: "gone", why: "x" }, "keep"],
])("%s", (_what, piece, expected) => {
	expect(new Intake(LIMITS).take(piece).do).toBe(expected);
});

test("what is left out is said once for each file, and never for live text", () => {
	const intake = new Intake(LIMITS);
	const pieces = [bytes("stdout", 60, 3), bytes("stdout", 63, 3), bytes("stderr", 60, 3), bytes("live", 20, 3)];
	expect(pieces.map((piece) => intake.take(piece))).toEqual([
		{ do: "skip", isNews: true },
		{ do: "skip", isNews: false },
		{ do: "skip", isNews: true },
		{ do: "skip", isNews: false },
	]);
});

test("what replaces itself again and again counts, too", () => {
	const intake = new Intake({ ...LIMITS, files: { ...LIMITS.files, live: 100 } });
	const taken = Array.from({ length: 400 }, () => intake.take(bytes("live", 0, 90)).do);
	expect(taken.filter((each) => each === "keep")).toHaveLength(11);
	expect(taken.at(-1)).toBe("end");
});

test("what is empty counts, too", () => {
	const intake = new Intake(LIMITS);
	const taken = Array.from({ length: 400 }, () => intake.take(bytes("events", 0, 0)).do);
	expect(taken.filter((each) => each === "keep")).toHaveLength(15);
	expect(taken.at(-1)).toBe("end");
});

test.each<Piece>([
	{ type: "control", size: 0 },
	{ type: "wrapper", text: "" },
	{ type: "result", text: "" },
	{ type: "gone", why: "" },
])("$type is said a few times, and not again and again", (piece) => {
	const intake = new Intake(LIMITS);
	const taken = Array.from({ length: 4 }, () => intake.take(piece));
	expect(taken.map((each) => each.do)).toEqual(["keep", "keep", "keep", "end"]);
	expect(taken[3]).toMatchObject({ why: expect.stringMatching(/^it said more than 3 times \w/) });
});

test("the limits are above what an honest worker sends", () => {
	expect(INTAKE_LIMITS.files.stdout).toBeGreaterThan(64 * 1024 * 1024); // where a wrapper stops writing
	expect(INTAKE_LIMITS.total).toBeGreaterThan(Object.values(INTAKE_LIMITS.files).reduce((sum, each) => sum + each));
});
