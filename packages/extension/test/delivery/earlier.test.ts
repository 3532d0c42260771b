/** The agents of earlier sessions, from session files as pi writes them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { earlierSessions } from "@pi-subagents/delivery";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../fixtures/fake-session.ts";

async function sessions(files: Record<string, string>) {
	const dir = await mkdtemp(join(tmpdir(), "earlier-"));
	onTestFinished(() => rm(dir, { recursive: true }));
	for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
	return (current?: string) =>
		earlierSessions({ sessionDir: dir, current: current && join(dir, current), cwd: "/project" });
}

const header = (id: string, cwd = "/project") => ({ type: "session", id, timestamp: "2026-11-17T02:40:00.000Z", cwd });

const lines = (...entries: readonly unknown[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");

/** What a session with one finished and one open agent leaves behind. */
async function entries() {
	const { file, ...it } = await open();
	it.launch("one", "user");
	it.launch("two");
	await it.answer("a1", "Two doors.");
	return file.entries;
}

test("are listed by session, newest first; one without a recorded end is not said to run", async () => {
	const both = await entries();
	const list = await sessions({
		"2026-11-15_a.jsonl": lines(header("aaaa"), ...both),
		"2026-11-16_b.jsonl": lines(header("bbbb"), ...both.slice(0, 1), { id: "x", type: "message" }),
		"2026-11-17_now.jsonl": lines(header("cccc"), ...both),
	});
	const found = await list("2026-11-17_now.jsonl");
	expect(
		found.map(({ id, agents }) => [id, agents.map((agent) => [agent.id, agent.status, agent.launchedBy])]),
	).toEqual([
		["bbbb", [["a1", "running", "user"]]],
		[
			"aaaa",
			[
				["a1", "completed", "user"],
				["a2", "running", "model"],
			],
		],
	]);
});

test("of other directories, and in files that are no sessions, do not count", async () => {
	const both = await entries();
	const list = await sessions({
		"1.jsonl": lines(header("aaaa", "/elsewhere"), ...both),
		"2.jsonl": lines(...both),
		"3.jsonl": "not JSON\n",
		"4.jsonl": "",
		"5.txt": lines(header("bbbb"), ...both),
		"6.jsonl": lines(header("cccc"), { ...both[0], data: { type: "launched" } }),
	});
	expect(await list()).toEqual([]);
	expect(await earlierSessions({ sessionDir: undefined, current: undefined, cwd: "/project" })).toEqual([]);
	expect(await earlierSessions({ sessionDir: "/no/such/dir", current: undefined, cwd: "/project" })).toEqual([]);
});
