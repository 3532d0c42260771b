import { createHash } from "node:crypto";
import { appendFile, mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "@pi-subagents/core";
import { handClock } from "@pi-subagents/core/testing";
import { RUN_FILES } from "@pi-subagents/runs";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ControlMessage, Disconnected, type Hear, type Link, type Piece } from "../../src/link/link.ts";
import { INTAKE_LIMITS } from "../../src/near/intake.ts";
import { Mirror } from "../../src/near/mirror.ts";

/** A mirror, and a machine that keeps the control lines as a worker does and says what the test wants it to say. */
async function mirrored({
	isAllHere = true,
	finishing = async (_signal: AbortSignal) => undefined as unknown,
	clock = systemClock as Clock,
	limits = INTAKE_LIMITS,
	answers = (_message: ControlMessage) => Promise.resolve(),
} = {}) {
	const dir = await mkdtemp(join(tmpdir(), "mirror-"));
	let follower: Hear | undefined;
	const reports: string[] = [];
	let follows = 0;
	const heard: ControlMessage[] = [];
	let control = Buffer.alloc(0);
	const link: Link = {
		submit: async () => undefined,
		follow(_key, _marks, hear) {
			follower = hear; // as in every link, the last one counts
			follows++;
			return () => {
				if (follower === hear) follower = undefined;
			};
		},
		async control(_key, message) {
			heard.push(message);
			if (message.type === "lines" && message.at === control.length)
				control = Buffer.concat([control, Buffer.from(message.text)]);
			await answers(message);
		},
		blobs: { offer: () => () => undefined, fetch: async () => undefined },
		onBeat(listener) {
			listener(true);
			return () => undefined;
		},
	};
	const finish = async ({ text }: { text: string }, signal: AbortSignal) => {
		await finishing(signal);
		return { text, isAllHere };
	};
	const report = (text: string) => void reports.push(text);
	const mirror = new Mirror({
		dir,
		key: "k",
		machine: "box",
		link,
		finish,
		onOver: () => undefined,
		clock,
		limits,
		report,
	});
	onTestFinished(async () => {
		mirror.letGo();
		await rm(dir, { recursive: true, force: true });
	});
	const say = (piece: Piece) => follower?.(piece);
	const state = () => ({ follows, isFollowed: follower !== undefined });
	return { dir, mirror, say, state, heard, reports, control: () => control.toString("utf8") };
}

/** How often this process has the file open. */
async function openFiles(path: string): Promise<number> {
	const open = await readdir("/proc/self/fd");
	const paths = await Promise.all(open.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => undefined)));
	return paths.filter((each) => each === path).length;
}

test("a long message in any script arrives whole, and so does what follows", async () => {
	const { dir, say, control } = await mirrored();
	const lines = `{"message":"x${"é".repeat(200_000)}"}\n{"type":"stop"}\n`;
	await appendFile(join(dir, RUN_FILES.control), lines);
	say({ type: "control", size: 0 });
	await expect.poll(() => control() === lines).toBe(true);
});

test("a conversation that was lost is sent again, and nothing is followed afterwards", async () => {
	const { dir, mirror, say, state } = await mirrored();
	const session = createHash("sha256").update("whole").digest("hex");
	say({ type: "result", text: "first", session });
	await expect.poll(() => state().follows).toBe(2);
	say({ type: "bytes", file: "session", at: 0, data: Buffer.from("whole").toString("base64") });
	say({ type: "result", text: "second", session });
	await expect.poll(() => readFile(join(dir, RUN_FILES.result), "utf8")).toBe("second");
	mirror.letGo();
	expect(state().isFollowed).toBe(false);
});

test("a connection that ends while the commits are fetched is waited for: the result is told again", async () => {
	let attempts = 0;
	const finishing = async () => {
		if (attempts++ === 0) throw new Disconnected("the connection ended");
	};
	const { dir, say, state } = await mirrored({ finishing });
	say({ type: "result", text: "{}" });
	await expect.poll(() => state().follows).toBe(2);
	await expect(readFile(join(dir, RUN_FILES.result))).rejects.toThrow("ENOENT");
	say({ type: "result", text: "{}" });
	await expect.poll(() => readFile(join(dir, RUN_FILES.result), "utf8")).toBe("{}");
});

test.each([true, false])("the machine may delete a run if all of it is here (%s)", async (isAllHere) => {
	const { dir, say, heard } = await mirrored({ isAllHere });
	say({ type: "result", text: "{}" });
	await expect.poll(() => readFile(join(dir, RUN_FILES.result), "utf8")).toBe("{}");
	say({ type: "control", size: 0 }); // comes after the result, and so after what it led to
	await appendFile(join(dir, RUN_FILES.control), "{}\n");
	await expect.poll(() => heard.some(({ type }) => type === "lines")).toBe(true);
	expect(heard.some(({ type }) => type === "done")).toBe(isAllHere);
});

describe("a machine that sends without end", () => {
	const limits = { ...INTAKE_LIMITS, files: { ...INTAKE_LIMITS.files, events: 1_000, stdout: 1_000 }, total: 10_000 };
	const piece = (file: "events" | "stdout", at: number): Piece => ({
		type: "bytes",
		file,
		at,
		data: Buffer.alloc(300, "x").toString("base64"),
	});
	const sizeOf = async (dir: string, name: string) => (await readFile(join(dir, name))).length;

	test("of what the run needs ends it, and nothing more of it is written", async () => {
		const { dir, mirror, say, state, heard } = await mirrored({ limits });
		for (let at = 0; at < 30_000; at += 300) say(piece("events", at));
		expect((await mirror.ended).how).toBe(
			"on box, its events of the agent are larger than 1 KB; nothing more is read from it",
		);
		expect(state().isFollowed).toBe(false);
		expect(heard).toEqual([{ type: "kill" }]);
		expect(await sizeOf(dir, RUN_FILES.events).catch(() => 0)).toBeLessThanOrEqual(1_000);
	});

	test("of output leaves the rest out, says so once, and then ends it", async () => {
		const { dir, mirror, say, reports } = await mirrored({ limits });
		for (let at = 0; at < 9_000; at += 300) say(piece("stdout", at));
		await expect.poll(() => sizeOf(dir, RUN_FILES.stdout)).toBe(900);
		expect(reports).toEqual(["Not all of stdout.log is copied from box: it is too long."]);
		for (let at = 9_000; at < 30_000; at += 300) say(piece("stdout", at));
		expect((await mirror.ended).how).toMatch(/^on box, it sent more than .* about one agent/);
		expect(await sizeOf(dir, RUN_FILES.stdout)).toBe(900);
	});

	test.runIf(process.platform === "linux")(
		"that it wants to know what the agent was told has one message on its way, and no file open",
		async () => {
			const gate = Promise.withResolvers<void>();
			const { dir, mirror, say, heard, control } = await mirrored({ answers: () => gate.promise });
			const path = join(dir, RUN_FILES.control);
			await appendFile(path, '{"type":"steer"}\n');
			for (let count = 0; count < 100; count++) await say({ type: "control", size: 0 });
			await expect.poll(() => heard.length).toBe(1);
			expect(await openFiles(path)).toBe(0);
			gate.resolve(); // then it gets what it asked for last
			await expect.poll(() => heard.length).toBe(2);
			expect(control()).toBe('{"type":"steer"}\n');
			for (let count = 0; count < INTAKE_LIMITS.repeats; count++) say({ type: "control", size: 0 });
			expect((await mirror.ended).how).toMatch(/^on box, it said more than 10000 times how much it knows/);
		},
	);

	test("says how it went wrong in few words", async () => {
		const { mirror, say } = await mirrored();
		say({ type: "gone", why: `\u001b[2J${"why ".repeat(1_000_000)}` });
		const { how } = await mirror.ended;
		expect(how.length).toBeLessThan(2_100);
		expect(how).toMatch(/^box says: "why why/);
	});

	test("tells its result again and again: the commits are taken over once", async () => {
		let finished = 0;
		const gate = Promise.withResolvers<void>();
		const finishing = async () => {
			finished++;
			await gate.promise;
		};
		const { dir, say } = await mirrored({ finishing });
		for (let count = 0; count < 100; count++) say({ type: "result", text: "{}" });
		gate.resolve();
		await expect.poll(() => readFile(join(dir, RUN_FILES.result), "utf8")).toBe("{}");
		expect(finished).toBe(1);
	});
});

describe("while the commits are copied", () => {
	/** Never ends by itself, as with a bundle without end. */
	const finishing = (signal: AbortSignal) =>
		new Promise<never>((_resolve, reject) => {
			signal.addEventListener("abort", () => reject(signal.reason), { once: true });
		});

	test("a stop that is not obeyed ends the copying at once, and the run within seconds", async () => {
		const clock = handClock();
		const { mirror, say, heard } = await mirrored({ finishing, clock });
		say({ type: "result", text: "{}" });
		mirror.endNow();
		await expect.poll(() => heard).toEqual([{ type: "kill" }]);
		clock.advance(10_000);
		expect(await mirror.ended).toEqual({ how: "box did not say that it has ended" });
	});

	test("a session that ends leaves the result to the next one, which takes it over", async () => {
		const { dir, mirror, say } = await mirrored({ finishing });
		say({ type: "result", text: "{}" });
		await Promise.resolve();
		mirror.letGo();
		await new Promise(setImmediate);
		await expect(readFile(join(dir, RUN_FILES.result))).rejects.toThrow("ENOENT");
	});
});
