/** pi's session file as the log, on a disk that is full for a while. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { parseSessionLines } from "@pi-subagents/delivery";
import { expect, onTestFinished, test } from "vitest";
import type { Host } from "../../src/host/host.ts";
import { createSessionLog } from "../../src/session/delivery-ports.ts";

function emptyFile(): string {
	const dir = mkdtempSync(join(tmpdir(), "session-log-"));
	onTestFinished(() => rmSync(dir, { recursive: true }));
	const file = join(dir, "session.jsonl");
	writeFileSync(file, "");
	return file;
}

/** Writes as pi does: a line at a time, of which a full disk takes the beginning. */
function piAt(file: string, { keeps }: { keeps: boolean }) {
	const at = { leaf: "e0", room: Number.POSITIVE_INFINITY, ids: 0 };
	const pi = {
		appendEntry(customType: string, data: unknown) {
			const id = `e${++at.ids}`;
			const line = `${JSON.stringify({ type: "custom", id, customType, data })}\n`;
			const isWhole = line.length <= at.room;
			if (keeps || isWhole) at.leaf = id;
			appendFileSync(file, isWhole ? line : line.slice(0, at.room));
			if (!isWhole) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
		},
	} as unknown as ExtensionAPI;
	const sessionManager = { getLeafId: () => at.leaf, getSessionFile: () => file };
	const host = { session: () => ({ sessionManager }), warn: () => undefined } as unknown as Host;
	return { at, log: createSessionLog(pi, host) };
}

test.each([
	{ pi: "0.x", keeps: true },
	{ pi: "1.x", keeps: false },
])("what pi $pi writes after half a line can be read", ({ keeps }) => {
	const file = emptyFile();
	const { at, log } = piAt(file, { keeps });
	log.append("a", 1);
	for (const room of [20, 0, 7]) {
		at.room = room;
		expect(() => log.append("lost", 2)).toThrow("ENOSPC");
		expect(log.isFull()).toBe(true);
	}
	at.room = Number.POSITIVE_INFINITY;
	for (const type of ["b", "c"]) log.append(type, 3);
	expect(parseSessionLines(readFileSync(file, "utf8")).map(({ customType }) => customType)).toEqual(["a", "b", "c"]);
	expect(log.isFull()).toBe(false);
});

test("only the end of a session file is read to see whether its last line is whole", () => {
	const file = emptyFile();
	const { at, log } = piAt(file, { keeps: true });
	truncateSync(file, 2 ** 31); // a hole, more than Node reads at once
	at.room = 7;
	const lose = () => expect(() => log.append("lost", 2)).toThrow("ENOSPC");
	lose();
	const { size } = statSync(file);
	at.room = 0;
	lose();
	lose();
	expect(statSync(file).size).toBe(size + "\n".length);
});

test("an entry that can never be written does not hold messages back", () => {
	const sessionManager = { getLeafId: () => "e0", getSessionFile: () => undefined };
	const host = { session: () => ({ sessionManager }), warn: () => undefined } as unknown as Host;
	const appendEntry = () => {
		throw new TypeError("Converting circular structure to JSON");
	};
	const log = createSessionLog({ appendEntry } as unknown as ExtensionAPI, host);
	expect(() => log.append("a", 1)).toThrow("circular");
	expect(log.isFull()).toBe(false);
});
