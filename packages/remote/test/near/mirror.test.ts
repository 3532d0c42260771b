import { createHash } from "node:crypto";
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@pi-subagents/core";
import { RUN_FILES } from "@pi-subagents/core/runs";
import { expect, onTestFinished, test } from "vitest";
import { type ControlMessage, Disconnected, type Link, type Piece } from "../../src/link/link.ts";
import { Mirror } from "../../src/near/mirror.ts";

/** A mirror, and a machine that keeps the control lines as a worker does and says what the test wants it to say. */
async function mirrored({ isAllHere = true, finishing = async () => undefined as unknown } = {}) {
	const dir = await mkdtemp(join(tmpdir(), "mirror-"));
	let follower: ((piece: Piece) => void) | undefined;
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
		},
		blobs: { offer: () => () => undefined, fetch: async () => undefined },
		onBeat(listener) {
			listener(true);
			return () => undefined;
		},
	};
	const finish = async ({ text }: { text: string }) => {
		await finishing();
		return { text, isAllHere };
	};
	const report = () => undefined;
	const mirror = new Mirror({
		dir,
		key: "k",
		machine: "box",
		link,
		finish,
		onOver: report,
		clock: systemClock,
		report,
	});
	onTestFinished(async () => {
		mirror.letGo();
		await rm(dir, { recursive: true, force: true });
	});
	const say = (piece: Piece) => follower?.(piece);
	const state = () => ({ follows, isFollowed: follower !== undefined });
	return { dir, mirror, say, state, heard, control: () => control.toString("utf8") };
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
