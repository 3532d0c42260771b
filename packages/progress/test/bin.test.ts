/** The real `pi-progress` as a process, on its sources, with what pi really wrote. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { createDescriber, normalize } from "../src/index.ts";

const BIN = fileURLToPath(new URL("../src/bin.ts", import.meta.url));
const session = readFileSync(new URL("fixtures/session.jsonl", import.meta.url));
const sessionLines = readFileSync(new URL("fixtures/session.txt", import.meta.url), "utf8");

async function piProgress(chunks: Iterable<Uint8Array | string>, args: string[] = []) {
	const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", BIN, ...args]);
	const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
	child.stdin.on("error", () => {}); // it may have ended before it read everything
	const output = Promise.all([text(child.stdout), text(child.stderr)]);
	for (const chunk of chunks) {
		if (!child.stdin.write(chunk))
			await Promise.race([ended, new Promise((resolve) => child.stdin.once("drain", resolve))]);
	}
	child.stdin.end();
	const [stdout, stderr] = await output;
	return { code: await ended, stdout, stderr };
}

test("a recorded session of real pi reads as expected", async () => {
	expect(await piProgress([session])).toEqual({ code: 0, stdout: sessionLines, stderr: "" });
});

test("the library says the same as the command, from the same session", () => {
	const describeNext = createDescriber();
	const events = session
		.toString()
		.trimEnd()
		.split("\n")
		.flatMap((line) => normalize(JSON.parse(line)));
	const lines = events.map(describeNext).filter((line) => line !== undefined);
	expect(`${lines.join("\n")}\n`).toBe(sessionLines);
});

test("split and broken UTF-8, garbage and a line of more than 8 MB", async () => {
	const said = (said: string) =>
		`${JSON.stringify({ type: "message_end", message: { role: "assistant", content: [{ type: "text", text: said }] } })}\r\n`;
	const greeting = Buffer.from(said("Grüße 😀\u2028漢字"));
	const broken = Buffer.from(said("a?b"));
	broken[broken.indexOf("?")] = 0xff;
	const megabyte = "x".repeat(1024 * 1024);
	expect(
		await piProgress([
			...Array.from(greeting, (byte) => Uint8Array.of(byte)),
			broken,
			"not JSON\n{\n\x00\n",
			...Array.from({ length: 9 }, () => megabyte),
			"\n",
			said("the end").trimEnd(),
		]),
	).toEqual({
		code: 0,
		stdout: "Grüße 😀 漢字\na\ufffdb\nthe end\n",
		stderr: "pi-progress: skipped 1 line over 8 MB and 3 lines that were not JSON\n",
	});
});

test("--version and unknown flags", async () => {
	expect(await piProgress([], ["--version"])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
	expect(await piProgress([], ["--wat"])).toMatchObject({ code: 2, stdout: "" });
});

test("it ends quietly when nobody reads its output", async () => {
	const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", BIN]);
	const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
	const stderr = text(child.stderr);
	child.stdin.on("error", () => {});
	child.stdout.once("data", () => child.stdout.destroy());
	// Its input stays open: it has to end by itself.
	const feed = setInterval(() => child.stdin.write(session), 20);
	expect([await ended, await stderr]).toEqual([0, ""]);
	clearInterval(feed);
});
