/** The oracle of storms itself: what it lets pass, and what not. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPiEnv, startModelServer } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { ownFiles } from "../storm/files.ts";
import { accountOf, unbalanced, unsaid } from "../storm/oracle.ts";

const entry = (data: object) => ({ id: "x", customType: "subagents:record", data });
const launch = (run: number) => ({
	...{
		type: "launched",
		runId: run === 1 ? "a" : `a-r${run}`,
		agentId: "a",
		run,
		description: "x",
		isBackground: true,
	},
});
const settled = (runId: string, more: object = {}) => ({ type: "settled", runId, status: "aborted", ...more });
const said = (...words: string[]) => words.map((what) => ({ what, id: "a" }));

test("an agent may end again without a word of its beginning where its later run was stopped in the queue, once", () => {
	const runs = [launch(1), settled("a"), launch(2), settled("a-r2", { neverStarted: true })];
	const account = accountOf(runs.map(entry));
	const first = ["created", "started", "completed"];
	expect(unbalanced(said(...first, "failed"), account, new Set())).toEqual([]);
	expect(unbalanced(said(...first, "failed", "failed"), account, new Set())).toEqual(["a ended once more: failed."]);
});

test("an agent that began ends, and no more often than it began", () => {
	const account = accountOf([launch(1), settled("a")].map(entry));
	expect(unbalanced(said("created", "started"), account, new Set())).toEqual(["a began and never ended."]);
	expect(unbalanced(said("created", "failed", "failed"), account, new Set())).toEqual(["a ended once more: failed."]);
	expect(unbalanced(said("created", "started", "completed"), account, new Set())).toEqual([]);
});

test("what could not be kept of a run has to be said: to the user, as its failure, or that the run is lost", async () => {
	const faults = [{ code: "EACCES", call: "open", path: "/runs/a/events.jsonl" }];
	const ended = (more: object) => accountOf([{ ...launch(1), artifacts: "/runs/a" }, settled("a", more)].map(entry));
	expect(await unsaid(faults, ended({}), [])).toEqual([expect.stringMatching(/^a .*EACCES.*nobody said so/)]);
	expect(await unsaid(faults, ended({}), ["Nothing of run a is kept: EACCES"])).toEqual([]);
	expect(await unsaid(faults, ended({ error: "EACCES: no" }), [])).toEqual([]);
	expect(await unsaid(faults, ended({ by: "lost", reason: "its process is gone" }), [])).toEqual([]);
	expect(await unsaid([], ended({}), [])).toEqual([]);
});

test("what hides runs from git is not among the files that a storm spoils", async () => {
	await using server = await startModelServer({ rules: [] });
	await using env = await createPiEnv({ server });
	const runs = join(env.cwd, ".pi", "subagents", "runs");
	await mkdir(join(runs, "a"), { recursive: true });
	for (const name of [".gitignore", "a/meta.json"]) await writeFile(join(runs, name), "*\n");
	expect(await ownFiles(env)).toEqual([join(runs, "a", "meta.json")]);
});
