/** The journal of a workflow as a file. */
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileJournal } from "@pi-subagents/workflow";
import { createTempDir, putStrange, STRANGE_KINDS } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";

const log = (text: string) => ({ type: "log", path: "1", text, at: 1 }) as const;

test("what could not be written is there, in order, with the next line that can be", async () => {
	await using dir = await createTempDir();
	const path = join(dir.path, "later", "w1.workflow.jsonl");
	const notices: string[] = [];
	const journal = fileJournal(path, (notice) => void notices.push(notice));
	for (const text of ["one", "two"]) journal.append(log(text));
	await mkdir(join(dir.path, "later"));
	journal.append(log("three"));
	journal.close();
	const lines = (await readFile(path, "utf8")).trim().split("\n");
	expect(lines.map((line) => JSON.parse(line).text)).toEqual(["one", "two", "three"]);
	expect(notices).toEqual([expect.stringMatching(/^The journal of a workflow cannot be written; .*ENOENT/)]);
});

test("the last line is written when the workflow ends, if there is room by then", async () => {
	await using dir = await createTempDir();
	const path = join(dir.path, "later", "w1.workflow.jsonl");
	const journal = fileJournal(path, () => undefined);
	journal.append(log("one"));
	await mkdir(join(dir.path, "later"));
	journal.close();
	expect(fileJournal(path, () => undefined).read()).toEqual([log("one")]);
});

test("half a line of a killed process does not spoil the next one", async () => {
	await using dir = await createTempDir();
	const path = join(dir.path, "w1.workflow.jsonl");
	await appendFile(path, `${JSON.stringify(log("one"))}\n{"type":"lo`);
	const journal = fileJournal(path, () => undefined);
	journal.read();
	for (const text of ["two", "three"]) journal.append(log(text));
	journal.close();
	expect(journal.read()).toEqual(["one", "two", "three"].map(log));
});

describe.skipIf(process.platform === "win32").each(STRANGE_KINDS)("where %s is in its place", (kind) => {
	test("the journal is not read, and the error says why and what to do", async () => {
		await using dir = await createTempDir();
		const path = join(dir.path, "w1.workflow.jsonl");
		await using strange = await putStrange(kind, path, "read");
		expect(() => fileJournal(path, () => undefined).read()).toThrow(
			/^The journal .*w1\.workflow\.jsonl cannot be read: .*(link|regular|directory|larger).* start the workflow again/,
		);
		await strange.assertUntouched();
	});

	test.skipIf(kind === "a file of a terabyte")("nothing is written to it, and the user hears of it once", async () => {
		await using dir = await createTempDir();
		const path = join(dir.path, "w1.workflow.jsonl");
		await using strange = await putStrange(kind, path, "append");
		const notices: string[] = [];
		const journal = fileJournal(path, (notice) => void notices.push(notice));
		for (const text of ["one", "two"]) journal.append(log(text));
		journal.close();
		expect(notices).toEqual([expect.stringMatching(/cannot be written; .*(link|regular|directory)/)]);
		await strange.assertUntouched();
	});
});
