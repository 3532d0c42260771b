import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { callTool, createTempDir, onTurn, otherwise, say, when } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import type { TranscriptEntry } from "../../../../core/src/model/transcript.ts";
import { conversationsWritten, openTranscript, openTranscriptFile, sessionRunner } from "../../../src/session/index.ts";
import { sessionWorld } from "../../fixtures/session.ts";

function line(text: string): string {
	return `${JSON.stringify({ type: "message", id: "1", timestamp: "t", message: { role: "user", content: text } })}\n`;
}

function entry(text: string): TranscriptEntry {
	return { type: "message", timestamp: "t", message: { role: "user", content: text } };
}

const HEADER = '{"type":"session","version":3,"id":"s"}\n';

/** A session file that a test writes by hand. */
async function handWritten(text?: string) {
	const dir = await createTempDir();
	const file = join(dir.path, "2026.jsonl");
	if (text !== undefined) await writeFile(file, text);
	return { dir: dir.path, file, [Symbol.asyncDispose]: () => dir.remove() };
}

describe("the transcript of an agent", () => {
	test("has what it was told and what it said, in order", async () => {
		await using world = await sessionWorld([when(onTurn(1), callTool("ls", { path: "." })), otherwise(say("Seen."))]);
		const sessionDir = join(world.dir, "sessions");
		const runner = sessionRunner({ ...world.host, sessionDir: () => sessionDir });
		await runner.start(world.spec, () => undefined).settled;
		await conversationsWritten();
		const transcript = await openTranscript(sessionDir, "a1");
		const roles = (await transcript.read(0, 99)).map((one) => (one.type === "message" ? one.message.role : one.type));
		expect(roles).toEqual(["system", "user", "assistant", "toolResult", "assistant"]);
		expect(transcript.length).toBe(5);

		await runner.start({ ...world.spec, run: 2 }, () => undefined).settled;
		await conversationsWritten();
		await transcript.refresh();
		expect(transcript.length).toBe(9);
	});

	test("grows while it works, and tells who listens", async () => {
		await using world = await sessionWorld([when(onTurn(1), callTool("ls", { path: "." })), otherwise(say("Seen."))]);
		const sessionDir = join(world.dir, "sessions");
		await mkdir(join(sessionDir, "a1"), { recursive: true });
		const transcript = await openTranscript(sessionDir, "a1");
		expect([transcript.length, await transcript.read(0, 9)]).toEqual([0, []]);
		const lengths: number[] = [];
		const { promise: complete, resolve } = Promise.withResolvers<void>();
		const stop = transcript.onAppend((length) => {
			lengths.push(length);
			if (length === 5) resolve();
		});
		await sessionRunner({ ...world.host, sessionDir: () => sessionDir }).start(world.spec, () => undefined).settled;
		await complete;
		stop();
		expect(lengths).toEqual([...lengths].sort((one, other) => one - other));
	});

	test("of an agent that nobody kept is empty", async () => {
		await using place = await handWritten();
		const transcript = await openTranscript(join(place.dir, "nowhere"), "a1");
		expect(transcript.length).toBe(0);
		await expect(async () => openTranscript(place.dir, "../etc")).rejects.toThrow("cannot be the name");
	});
});

describe("a transcript file", () => {
	test("is read in windows, whatever lies between its entries", async () => {
		const noise = '{"type":"model_change","id":"x"}\n\n';
		await using place = await handWritten(HEADER + line("one") + noise + line("two\u2028two") + line("three"));
		const transcript = await openTranscriptFile(place);
		expect(transcript.length).toBe(3);
		expect(await transcript.read(0, 2)).toEqual([entry("one"), entry("two\u2028two")]);
		expect(await transcript.read(2, 5)).toEqual([entry("three")]);
		expect(await transcript.read(-4, 1)).toEqual([entry("one")]);
		expect(await transcript.read(3, 5)).toEqual([]);
		expect(await transcript.read(0, 0)).toEqual([]);
	});

	test("shows summaries and messages of extensions", async () => {
		const summary = '{"type":"compaction","timestamp":"t","summary":"Short."}\n';
		const custom = '{"type":"custom_message","timestamp":"t","customType":"note","content":"Hi."}\n';
		await using place = await handWritten(HEADER + summary + custom);
		const transcript = await openTranscriptFile(place);
		expect(await transcript.read(0, 9)).toEqual([
			{ type: "compaction", timestamp: "t", summary: "Short." },
			{ type: "message", timestamp: "t", message: { role: "custom", customType: "note", content: "Hi." } },
		]);
	});

	test("has no entry whose line has not ended, and has it when it has", async () => {
		await using place = await handWritten(HEADER + line("one") + line("two").slice(0, 30));
		const transcript = await openTranscriptFile(place);
		expect(transcript.length).toBe(1);
		await appendFile(place.file, line("two").slice(30));
		await transcript.refresh();
		expect(await transcript.read(0, 9)).toEqual([entry("one"), entry("two")]);
	});

	test("shows where something is that cannot be read: broken, or too long", async () => {
		const broken = '{"type":"message","mess\n';
		const long = line("x".repeat(5_000));
		await using place = await handWritten(
			[line("one"), broken, long, '{"type":"message","message":7}\r\n', line("two")].join(""),
		);
		const transcript = await openTranscriptFile({ ...place, maxEntryBytes: 1_000 });
		expect(await transcript.read(0, 9)).toEqual([
			entry("one"),
			{ type: "unreadable", bytes: broken.length - 1 },
			{ type: "unreadable", bytes: long.length - 1 },
			{ type: "unreadable", bytes: 31 },
			entry("two"),
		]);
	});

	test("begins anew when it is replaced or cut", async () => {
		await using place = await handWritten(line("one") + line("two") + line("three"));
		const transcript = await openTranscriptFile(place);
		await writeFile(place.file, line("uno"));
		await transcript.refresh();
		expect(await transcript.read(0, 9)).toEqual([entry("uno")]);
		await rm(place.file);
		await writeFile(place.file, line("eins") + line("zwei"));
		await transcript.refresh();
		expect(await transcript.read(0, 9)).toEqual([entry("eins"), entry("zwei")]);
	});

	test("that is removed while it is looked at says so for what it had", async () => {
		await using place = await handWritten(line("one"));
		const transcript = await openTranscriptFile(place);
		await rm(place.file);
		await transcript.refresh();
		expect(await transcript.read(0, 9)).toEqual([{ type: "unreadable", bytes: line("one").length - 1 }]);
	});

	test("of 100,000 entries is read at any place without being held", async () => {
		const filler = "y".repeat(400);
		const lines = Array.from({ length: 100_000 }, (_, index) => line(`${index} é ${filler}`));
		await using place = await handWritten(HEADER + lines.join(""));
		const before = process.memoryUsage().arrayBuffers;
		const transcript = await openTranscriptFile(place);
		expect(transcript.length).toBe(100_000);
		for (const from of [0, 49_990, 99_990]) {
			const window = await transcript.read(from, 10);
			expect(window).toEqual(Array.from({ length: 10 }, (_, index) => entry(`${from + index} é ${filler}`)));
		}
		// The file has 50 MB.
		expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000);
	});

	test("in a directory that comes later is watched once it was looked for, and says where it is", async () => {
		await using place = await handWritten();
		const reports: string[] = [];
		const dir = join(place.dir, "later");
		const transcript = await openTranscriptFile({ dir, report: (message) => void reports.push(message) });
		const { promise, resolve } = Promise.withResolvers<void>();
		const stop = transcript.onAppend((length) => length === 2 && resolve());
		expect(await transcript.path()).toBeUndefined();
		await mkdir(dir);
		const file = join(dir, "2026.jsonl");
		await writeFile(file, line("one"));
		await transcript.refresh();
		await appendFile(file, line("two"));
		await promise;
		stop();
		expect([await transcript.path(), reports]).toEqual([file, []]);
	});

	test("calls nobody who has stopped listening", async () => {
		await using place = await handWritten(line("one"));
		const transcript = await openTranscriptFile(place);
		const heard: string[] = [];
		const stop = transcript.onAppend((length) => void heard.push(`first ${length}`));
		const { promise, resolve } = Promise.withResolvers<void>();
		const stopOther = transcript.onAppend((length) => {
			heard.push(`second ${length}`);
			resolve();
		});
		stop();
		await appendFile(place.file, line("two"));
		await promise;
		stopOther();
		expect(heard).toEqual(["second 2"]);
	});
});
