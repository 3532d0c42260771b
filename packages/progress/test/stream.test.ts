/** The logic of `pi-progress` with streams of our own; `bin.test.ts` runs the real command. */
import { PassThrough, Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { run } from "../src/stream.ts";

class Sink extends Writable {
	text = "";
	override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
		this.text += chunk;
		done();
	}
}

const read = '{"type":"tool_execution_start","toolCallId":"1","toolName":"read","args":{"path":"a.ts"}}\n';
const failed = '{"type":"tool_execution_end","toolCallId":"1","toolName":"read","isError":true}\n';

async function pipe(chunks: (string | Uint8Array)[], options: { args?: string[]; maxLineBytes?: number } = {}) {
	const stdout = new Sink();
	const stderr = new Sink();
	const stdin = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
	const code = await run({ args: [], ...options, stdin, stdout, stderr, version: "1.2.3" });
	return { code, stdout: stdout.text, stderr: stderr.text };
}

test("events become lines; other JSON, blank lines and deltas say nothing", async () => {
	expect(await pipe([read, "\n \r\n42\n", '{"type":"message_update"}\n', failed.trimEnd()])).toEqual({
		code: 0,
		stdout: "Reading a.ts\nRead failed: a.ts\n",
		stderr: "",
	});
});

test("lines that are too long or not JSON are skipped, counted and reported", async () => {
	expect(await pipe([`{"x":"${"y".repeat(200)}"}\n`, "garbage\n{\n", read, "]\n"], { maxLineBytes: 100 })).toEqual({
		code: 0,
		stdout: "Reading a.ts\n",
		stderr: "pi-progress: skipped 1 line over 100 bytes and 3 lines that were not JSON\n",
	});
});

test.each([
	[["--version"], 0, "1.2.3\n", ""],
	[["-v"], 0, "1.2.3\n", ""],
	[["--help"], 0, expect.stringMatching(/^Usage: pi --mode json .* \| pi-progress\n/), ""],
	[["-h", "--version"], 0, expect.stringMatching(/^Usage/), ""],
	[["--wat"], 2, "", expect.stringMatching(/^pi-progress: unknown argument "--wat"\n\nUsage/)],
	[["file.jsonl"], 2, "", expect.stringMatching(/^pi-progress: unknown argument "file.jsonl"\n\nUsage/)],
])("%j", async (args, code, stdout, stderr) => {
	expect(await pipe([read], { args })).toEqual({ code, stdout, stderr });
});

test("a terminal as input means that nothing is piped in", async () => {
	const stderr = new Sink();
	const stdin = Object.assign(Readable.from([]), { isTTY: true });
	expect(await run({ args: [], stdin, stdout: new Sink(), stderr, version: "1.2.3" })).toBe(2);
	expect(stderr.text).toMatch(/^pi-progress: nothing is piped in\n\nUsage/);
});

test("it reads on only when its output was taken", async () => {
	const stdin = new PassThrough();
	const taken: (() => void)[] = [];
	const stdout = new Writable({ write: (_chunk, _encoding, done) => void taken.push(done) });
	const ended = run({ args: [], stdin, stdout, stderr: new Sink(), version: "1.2.3" });
	stdin.write(read);
	await expect.poll(() => taken.length).toBe(1);
	stdin.end(failed);
	for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate); // it has every chance to read on
	expect(taken.length).toBe(1);
	taken[0]?.();
	await expect.poll(() => taken.length).toBe(2);
	taken[1]?.();
	expect(await ended).toBe(0);
});

test.each([
	["EPIPE", 0, ""],
	["ENOSPC", 1, "pi-progress: no\n"],
])("output that fails with %s", async (reason, code, message) => {
	const error = Object.assign(new Error("no"), { code: reason });
	const stdout = new Writable({ write: (_chunk, _encoding, done) => done(error) });
	const stderr = new Sink();
	const stdin = Readable.from([Buffer.from(read), Buffer.from(read)]);
	expect([await run({ args: [], stdin, stdout, stderr, version: "1.2.3" }), stderr.text]).toEqual([code, message]);
});

test("input that fails", async () => {
	const stdin = new Readable({ read: () => {} });
	stdin.destroy(new Error("EIO"));
	const stderr = new Sink();
	expect(await run({ args: [], stdin, stdout: new Sink(), stderr, version: "1.2.3" })).toBe(1);
	expect(stderr.text).toBe("pi-progress: EIO\n");
});
