import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { handClock } from "@pi-subagents/core/testing";
import { sanitize, unfenced } from "@pi-subagents/progress";
import { isFullRun } from "@pi-subagents-dev/testkit/full-run";
import { patienceMs } from "@pi-subagents-dev/testkit/wait";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatPeek, type Peek, peek } from "../../src/peek/peek.ts";

let dir: string;
let files = 0;

beforeAll(async () => {
	dir = await mkdtemp(join(tmpdir(), "peek-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function fileOf(content: string | Uint8Array): Promise<string> {
	const path = join(dir, `${++files}.log`);
	await writeFile(path, content);
	return path;
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
const numbersOf = ({ lines }: Peek) => lines.map(({ number }) => number);
const textsOf = ({ lines }: Peek) => lines.map(({ text }) => text);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("the lines of a file", () => {
	test("are the last twenty, with their numbers, unless told otherwise", async () => {
		const seen = await peek(await fileOf(numbered(100)), {});
		expect(numbersOf(seen)).toEqual(Array.from({ length: 20 }, (_, index) => 81 + index));
		expect(seen).toMatchObject({ total: 100, nextAfter: 100, isCut: true, isMissing: false });
		expect(seen.lines[0]).toEqual({ number: 81, text: "line 81" });
	});

	test("go on from where the last look ended", async () => {
		const path = await fileOf(numbered(5));
		const first = await peek(path, { after: 0, lines: 2 });
		expect(first).toMatchObject({ total: 5, nextAfter: 2, isCut: true });
		const second = await peek(path, { after: first.nextAfter });
		expect(numbersOf(second)).toEqual([3, 4, 5]);
		expect(second).toMatchObject({ nextAfter: 5, isCut: false });
		expect(await peek(path, { after: 5 })).toMatchObject({ lines: [], nextAfter: 5, isCut: false });
	});

	test("are at least one and at most two hundred", async () => {
		const path = await fileOf(numbered(300));
		expect(numbersOf(await peek(path, { lines: 1_000 }))).toHaveLength(200);
		expect(numbersOf(await peek(path, { lines: -3 }))).toEqual([300]);
		expect(numbersOf(await peek(path, { after: -3, lines: 1 }))).toEqual([1]);
	});

	test("are none where there is no file, and that is said", async () => {
		const seen = await peek(join(dir, "none", "transcript.log"), { after: 7 });
		expect(seen).toEqual({ lines: [], total: 0, nextAfter: 0, isCut: false, isMissing: true });
		expect(formatPeek(seen)).toBe("[nothing has been written yet]");
	});

	test("cannot be read from what is not a file", async () => {
		await expect(peek(dir, {})).rejects.toThrow(`${dir} cannot be read: it is not a regular file`);
	});

	test("begin again at the end of a file that has become shorter", async () => {
		expect(await peek(await fileOf(numbered(3)), { after: 50 })).toMatchObject({ lines: [], total: 3, nextAfter: 3 });
	});

	test("do not include one that is only half written", async () => {
		const path = await fileOf("whole\nhal");
		expect(await peek(path, {})).toMatchObject({ lines: [{ number: 1, text: "whole" }], total: 1, nextAfter: 1 });
		await appendFile(path, "f no more\n");
		expect((await peek(path, { after: 1 })).lines).toEqual([{ number: 2, text: "half no more" }]);
	});

	test("are cleaned: line ends of any kind, broken characters, terminal sequences", async () => {
		const bytes = Buffer.concat([Buffer.from("a\r\n\x1b[31mred\x1b[0m\n"), Buffer.of(0x62, 0xff, 0xc3, 0x0a)]);
		expect(textsOf(await peek(await fileOf(bytes), {}))).toEqual(["a", "red", "b\ufffd\ufffd"]);
	});

	test("are cut at 500 characters, never inside one", async () => {
		const path = await fileOf(`${"x".repeat(498)}😀😀\n${"y".repeat(500)}\n${"z".repeat(900_000)}\n`);
		const first = await peek(path, { after: 0 });
		expect(textsOf(first)).toEqual([`${"x".repeat(498)}…`, "y".repeat(500)]);
		expect(first).toMatchObject({ nextAfter: 2, isCut: true }); // enough was read for one look
		expect(textsOf(await peek(path, { after: 2 }))).toEqual([`${"z".repeat(499)}…`]);
	});

	test("are only mentioned when they are longer than a megabyte", async () => {
		const path = await fileOf(`a\n${"z".repeat(5_000_000)}\n`);
		const last = { number: 2, text: "[a line of 5,000,000 bytes, left out]" };
		expect(await peek(path, {})).toMatchObject({ lines: [last], nextAfter: 2, isCut: true });
		expect((await peek(path, { after: 1 })).lines).toEqual([last]);
	});

	test("are together no more than 20,000 characters for the model, and the rest can be read on", async () => {
		const path = await fileOf(`${"w".repeat(490)}\n`.repeat(200));
		const last = await peek(path, { lines: 200 });
		expect(formatPeek(last).length).toBeLessThanOrEqual(20_000);
		expect(last).toMatchObject({ nextAfter: 200, isCut: true });
		expect(last.lines.at(-1)?.number).toBe(200);
		const first = await peek(path, { after: 0, lines: 200 });
		expect(formatPeek(first).length).toBeLessThanOrEqual(20_000);
		expect(first).toMatchObject({ nextAfter: first.lines.length, isCut: true });
	});

	test("of a large file have their true numbers at both ends and in the middle", async () => {
		const path = await fileOf(numbered(500_000));
		expect((await peek(path, { lines: 1 })).lines).toEqual([{ number: 500_000, text: "line 500000" }]);
		expect((await peek(path, { after: 240_000, lines: 1 })).lines).toEqual([{ number: 240_001, text: "line 240001" }]);
		expect(numbersOf(await peek(path, { regex: "999$", lines: 2 }))).toEqual([498_999, 499_999]);
	});

	test("are not waited for when the caller gives up", async () => {
		const path = await fileOf(numbered(10));
		await expect(peek(path, {}, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
	});
});

describe("a regex", () => {
	test("picks lines, the last ones first", async () => {
		const path = await fileOf(numbered(40));
		expect(numbersOf(await peek(path, { regex: "^line \\d*7$" }))).toEqual([7, 17, 27, 37]);
		expect(await peek(path, { regex: "7$", lines: 4 })).toMatchObject({ isCut: false, nextAfter: 40 });
		const two = await peek(path, { regex: "7$", lines: 2 });
		expect([numbersOf(two), two.isCut, two.nextAfter]).toEqual([[27, 37], true, 40]);
	});

	test("picks lines after a number, and those between need not be looked at again", async () => {
		const path = await fileOf(numbered(40));
		const two = await peek(path, { regex: "7$", after: 10, lines: 2 });
		expect([numbersOf(two), two.isCut, two.nextAfter]).toEqual([[17, 27], true, 27]);
		const rest = await peek(path, { regex: "7$", after: two.nextAfter });
		expect([numbersOf(rest), rest.isCut, rest.nextAfter]).toEqual([[37], false, 40]);
	});

	test("searches the last megabytes of a large file, and all of it piece by piece", async () => {
		const path = await fileOf(`needle\n${numbered(450_000)}needle\n`);
		expect(await peek(path, { regex: "needle" })).toMatchObject({ lines: [{ number: 450_002 }], isCut: true });
		const seen: number[] = [];
		let look = await peek(path, { regex: "needle", after: 0 });
		expect(look.nextAfter).toBeLessThan(look.total);
		for (seen.push(...numbersOf(look)); look.isCut; seen.push(...numbersOf(look)))
			look = await peek(path, { regex: "needle", after: look.nextAfter });
		expect(seen).toEqual([1, 450_002]);
	});

	test("minds case unless it begins with (?i)", async () => {
		const path = await fileOf("Reading a.ts\nreading b.ts\n");
		expect(numbersOf(await peek(path, { regex: "reading" }))).toEqual([2]);
		expect(numbersOf(await peek(path, { regex: "(?i)READING" }))).toEqual([1, 2]);
	});

	test("sees a line as it is shown, but also what was cut off", async () => {
		const path = await fileOf(`\x1b[31mred\x1b[0m\r\n${"x".repeat(600)}needle\n`);
		expect(numbersOf(await peek(path, { regex: "^red$" }))).toEqual([1]);
		expect(numbersOf(await peek(path, { regex: "needle" }))).toEqual([2]);
	});

	test("finds nothing in nothing", async () => {
		expect((await peek(await fileOf(""), { regex: "^$" })).lines).toEqual([]);
		expect(await peek(await fileOf("\n"), { regex: "^$" })).toMatchObject({ lines: [{ number: 1, text: "" }] });
	});

	test.each([
		["(a)(b", 4, "Unterminated group"],
		["a**b", 3, "Nothing to repeat"],
		["ab)c", 3, "Unmatched ')'"],
		["x[z-a]", 5, "Range out of order in character class"],
		["(?i)a: [b", 8, "Unterminated character class"],
	])("that is wrong is refused, and where: %s", async (regex, at, why) => {
		const refused = peek(join(dir, "none"), { regex });
		await expect(refused).rejects.toMatchObject({
			code: "bad_request",
			message: `The regex "${regex}" is not valid at character ${at}: ${why}.`,
		});
	});

	test("that is too long is refused", async () => {
		await expect(peek(await fileOf("a\n"), { regex: "a".repeat(501) })).rejects.toThrow("longer than 500 characters");
	});

	test("that never ends is given up at its deadline, and everything else goes on meanwhile", async () => {
		const path = await fileOf(`${"a".repeat(60)}!\n`);
		const clock = handClock();
		const order: string[] = [];
		const refused = peek(path, { regex: "^(a+)+$" }, { clock }).catch((error: Error) => {
			order.push("refused");
			return error;
		});
		while (clock.waiting() === 0) await turn(); // the thread has begun
		for (let count = 1; count <= 100; count++) await turn();
		order.push("a hundred turns");
		clock.advance(999);
		for (let count = 1; count <= 100; count++) await turn();
		order.push("a hundred more");
		clock.advance(1);
		expect(await refused).toMatchObject({
			code: "bad_request",
			message: 'The regex "^(a+)+$" took too long; use a simpler one, without repetitions inside repetitions.',
		});
		expect(order).toEqual(["a hundred turns", "a hundred more", "refused"]);
		expect(clock.waiting()).toBe(0);
	});

	test("that never ends is given up when the caller gives up", async () => {
		const path = await fileOf(`${"a".repeat(60)}!\n`);
		const clock = handClock();
		const stop = new AbortController();
		const refused = peek(path, { regex: "^(a+)+$" }, { clock, signal: stop.signal });
		const heard = expect(refused).rejects.toThrow("enough");
		while (clock.waiting() === 0) await turn();
		stop.abort(new Error("enough"));
		await heard;
		expect(clock.waiting()).toBe(0);
	});

	test("is answered, and the process then ends, where nothing else keeps it alive", async () => {
		const path = await fileOf(numbered(3));
		const script = `
			import { peek } from ${JSON.stringify(import.meta.resolve("../../src/peek/peek.ts"))};
			console.log((await peek(${JSON.stringify(path)}, { regex: "3" })).lines[0].text);
			await peek(${JSON.stringify(await fileOf(`${"a".repeat(60)}!\n`))}, { regex: "^(a+)+$" }).catch((error) => console.log(error.code));`;
		const args = ["--conditions=@pi-subagents/source", "--input-type=module", "--no-warnings", "-e", script];
		const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: patienceMs() });
		expect(stdout).toBe("line 3\nbad_request\n");
	});
});

describe("what the model reads", () => {
	const peekOf = (part: Partial<Peek>): Peek => ({
		lines: [
			{ number: 11, text: "Reading a.ts" },
			{ number: 12, text: "Running npm test" },
		],
		total: 12,
		nextAfter: 12,
		isCut: false,
		isMissing: false,
		...part,
	});

	test.each<[Partial<Peek>, string]>([
		[{}, "[12 lines so far; later lines: after: 12]"],
		[
			{ isCut: true },
			"[12 lines so far, earlier ones omitted (after: 0 starts with the first); later lines: after: 12]",
		],
		[{ isCut: true, total: 30 }, "[30 lines so far; read on with after: 12]"],
	])("ends with how to read on: %j", (part, last) => {
		expect(unfenced(formatPeek(peekOf(part)))).toBe(`11│ Reading a.ts\n12│ Running npm test\n${last}`);
	});

	test("says when there is nothing", () => {
		expect(formatPeek(peekOf({ lines: [], total: 1, nextAfter: 1 }))).toBe(
			"[nothing to show; 1 line so far; later lines: after: 1]",
		);
	});
});

/** The same numbers for the same seed, so that a failure can be repeated. */
function randomOf(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
	};
}

const PIECES = [
	"a",
	"b7",
	" ",
	"\n",
	"\n",
	"\r\n",
	"\r",
	"é",
	"😀",
	"\x1b[1m",
	"\u2028",
	"",
	"Reading x.ts",
	"w".repeat(300),
];

function bytesOf(random: (below: number) => number): Buffer {
	const count = random(10) === 0 ? 2_000 : random(120);
	return Buffer.concat(
		Array.from({ length: count }, () =>
			random(12) === 0 ? Buffer.of(random(256)) : Buffer.from(PIECES[random(PIECES.length)] ?? ""),
		),
	);
}

type Options = Parameters<typeof peek>[1];

function optionsOf(random: (below: number) => number, regex: string | undefined): Options {
	return {
		...(random(2) ? { lines: random(230) } : {}),
		...(random(2) ? { after: random(200) } : {}),
		...(regex === undefined ? {} : { regex }),
	};
}

function wholeLines(bytes: Buffer): string[] {
	return bytes.toString("utf8").split("\n").slice(0, -1).map(sanitize);
}

/** The same, told as simply as possible: everything at once, nothing bounded but the answer. */
function naive(bytes: Buffer, { lines = 20, regex = "", after }: Options): Peek {
	const most = Math.min(200, Math.max(1, lines));
	const total = wholeLines(bytes).length;
	const all = wholeLines(bytes)
		.map((text, index) => ({ number: index + 1, text }))
		.filter(({ number, text }) => number > (after ?? 0) && new RegExp(regex).test(text))
		.map(({ number, text }) => ({
			number,
			text: text.length > 500 ? `${text.slice(0, 499).replace(/[\ud800-\udbff]$/, "")}…` : text,
		}));
	const shown = after === undefined ? all.slice(-most) : all.slice(0, most);
	const size = () => shown.reduce((sum, { number, text }) => sum + `${number}│ ${text}\n`.length, 0);
	while (size() > 19_800) after === undefined ? shown.shift() : shown.pop();
	const isAll = shown.length === all.length;
	const nextAfter = after === undefined || isAll ? total : (shown.at(-1)?.number ?? total);
	return { lines: shown, total, nextAfter, isCut: after === undefined ? !isAll : nextAfter < total, isMissing: false };
}

describe("for any file", () => {
	test("a look gives what reading all of it would", async () => {
		for (let seed = 1; seed <= (isFullRun ? 400 : 60); seed++) {
			const random = randomOf(seed);
			const bytes = bytesOf(random);
			const options = optionsOf(random, undefined);
			expect(await peek(await fileOf(bytes), options), `seed ${seed}`).toEqual(naive(bytes, options));
		}
	});

	test("a search gives what searching all of it would", async () => {
		for (let seed = 1; seed <= (isFullRun ? 60 : 15); seed++) {
			const random = randomOf(seed);
			const bytes = bytesOf(random);
			const options = optionsOf(random, ["a", "^$", "7 ?é", "^Reading", "(?:b|w)+$"][random(5)]);
			expect(await peek(await fileOf(bytes), options), `seed ${seed}`).toEqual(naive(bytes, options));
		}
	});

	test.each([
		{ regex: "", seeds: isFullRun ? 60 : 12, step: 400 },
		{ regex: "a|w", seeds: isFullRun ? 12 : 4, step: 4_000 },
	])("that grows between looks, nothing is lost or repeated (regex: $regex)", async ({ regex, seeds, step }) => {
		for (let seed = 1; seed <= seeds; seed++) {
			const random = randomOf(seed);
			const bytes = bytesOf(random);
			const path = await fileOf("");
			const seen: Peek["lines"] = [];
			let after = 0;
			let written = 0;
			for (let isRead = false; !isRead; ) {
				const part = bytes.subarray(written, written + random(step));
				written += part.length;
				await appendFile(path, part); // cut anywhere, also inside a line or a character
				const look = await peek(path, { after, lines: 1 + random(60), regex });
				seen.push(...look.lines);
				isRead = written === bytes.length && !look.isCut;
				after = look.nextAfter;
			}
			const expected = wholeLines(bytes)
				.map((text, index) => ({ number: index + 1, text }))
				.filter(({ text }) => new RegExp(regex).test(text));
			expect(
				seen.map(({ number }) => number),
				`seed ${seed}`,
			).toEqual(expected.map(({ number }) => number));
			expect(
				seen.map(({ text }) => text.slice(0, 400)),
				`seed ${seed}`,
			).toEqual(expected.map(({ text }) => text.slice(0, 400)));
		}
	});
});
