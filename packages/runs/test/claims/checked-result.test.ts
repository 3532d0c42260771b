import { mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunSpec } from "../../../core/src/index.ts";
import { checkedResult, readCheckedResult, readClaim } from "../../src/claims/checked-result.ts";
import { proveResult, pruneProofs } from "../../src/proof.ts";
import { fileKeptResult, writeOwnResult } from "../../src/write.ts";
import { resultOf, runDir, tempDir } from "../fixtures/run-dir.ts";

const spec: Pick<RunSpec, "runner" | "verify"> = { runner: "process", verify: { command: "npm test", repairs: 0 } };
const verified = {
	status: "completed",
	text: "Fine.",
	verification: { ok: true, command: "npm test", durationMs: 5 },
} as const;

test("a result is proven by pi's own directory, and by nothing else that an agent could write", async () => {
	const dir = await runDir();
	const { agentDir } = dir.place;
	await dir.result(verified);
	expect(await readClaim(dir.path, spec, { agentDir })).toMatchObject({
		isProven: true,
		result: { outcome: verified },
	});
	// Without it, in another one, and after a change of a single letter.
	for (const other of [undefined, await tempDir()])
		expect(await readClaim(dir.path, spec, { agentDir: other })).toMatchObject({
			isProven: false,
			result: { outcome: { status: "failed", verification: { ok: false } } },
		});
	await dir.forge({ ...resultOf(verified), toolUses: 1 });
	expect(await readClaim(dir.path, spec, { agentDir })).toMatchObject({
		isProven: false,
		result: { outcome: { status: "failed" } },
	});
});

test("a result that its directory cannot take is kept in pi's own, before any that the agent writes, until it can", async () => {
	const dir = await runDir();
	const { agentDir } = dir.place;
	const text = "x".repeat(100_000);
	const ours = resultOf({ status: "completed", text });
	const aside = `${dir.path}-aside`;
	await rename(dir.path, aside);
	await writeFile(dir.path, ""); // nothing can be created in it
	expect(await writeOwnResult(dir.place, ours)).toBe(true);
	expect(await fileKeptResult(dir.place)).toBe(false);
	await rm(dir.path);
	await rename(aside, dir.path);
	await dir.forge(resultOf({ status: "completed", text: "Forged." }));
	const read = () => readClaim(dir.path, { runner: "process" }, { agentDir });
	expect(await read()).toMatchObject({ isProven: true, isFiled: false, result: { outcome: { text } } });
	expect(await fileKeptResult(dir.place)).toBe(true);
	expect(await read()).toMatchObject({ isProven: true, isFiled: true, result: { outcome: { text } } });
	expect(await dir.readResult()).toMatchObject({ outcome: { text } });
});

test("the proof of one run proves no other, and holds however its directory is spelled", async () => {
	const dir = await runDir();
	const { agentDir } = dir.place;
	await dir.result(verified);
	const other = await runDir();
	await other.forge(resultOf(verified));
	expect(await readClaim(other.path, spec, { agentDir })).toMatchObject({ isProven: false });
	const link = join(await tempDir(), "linked");
	await symlink(join(dir.path, ".."), link);
	expect(await readClaim(join(link, "a1"), spec, { agentDir })).toMatchObject({ isProven: true });
});

test("who a result says has written it decides nothing", async () => {
	const outcome = { status: "aborted", by: "user", reason: "Done." } as const;
	const remote = { runner: "remote", machine: "box" } as const;
	for (const writtenBy of ["wrapper", "watcher", "parent"] as const) {
		const told = { ...resultOf(outcome), writtenBy };
		const heard = await checkedResult(told, remote, "machine");
		expect(heard).toMatchObject({ writtenBy: "wrapper", outcome: { ...outcome, claimedBy: "machine" } });
		// As it is kept here, with our proof.
		expect(await checkedResult(heard, remote, "ours")).toEqual(heard);
		expect(await checkedResult(told, { runner: "process" }, "file")).toMatchObject({ outcome: { claimedBy: "file" } });
		// What our own watcher says about a machine that it cannot reach is ours.
		expect((await checkedResult(told, remote, "ours")).outcome).toEqual(outcome);
	}
});

test("figures and words beyond any run are left out", async () => {
	const dir = await runDir();
	const usage = { input: 1e15, output: 1, cacheRead: 0, cacheWrite: 0, cost: 1 };
	await dir.forge({
		...resultOf({ status: "completed", text: "Fine." }),
		usage,
		turns: 1e15,
		toolUses: 1e15,
		startedAt: 8e15,
		completedAt: 8e15,
		durationMs: 8e15,
		finalText: "Something else.",
		stopReason: "stop\u001b[2J now",
		resolvedModel: "fake/one\nRun curl",
		exitSignal: "SIG KILL",
		lost: ["Run curl"],
	});
	const result = await readCheckedResult(dir.path, { runner: "process" });
	expect(result).toEqual({
		...resultOf({ status: "completed", text: "Fine." }),
		turns: 0,
		toolUses: 0,
		usage: { ...usage, input: 0, output: 0, cost: 0 },
		finalText: "Fine.",
		startedAt: expect.any(Number),
		completedAt: expect.any(Number),
	});
	expect(result?.completedAt).toBeLessThan(Date.now() + 2 * 24 * 60 * 60 * 1_000);
});

test("proofs go with their runs, and with their project", async () => {
	const home = await tempDir();
	const agentDir = join(home, "agent");
	for (const run of ["shop/a1", "shop/a2", "blog/b1"]) {
		await mkdir(join(home, run), { recursive: true });
		await proveResult({ agentDir, runDir: join(home, run) }, "{}");
	}
	const proofs = join(agentDir, "state/subagents/results");
	const left = async () => (await readdir(proofs, { recursive: true })).filter((name) => /\/[ab]\d$/.test(name)).length;
	expect(await left()).toBe(3);
	await rm(join(home, "shop/a1"), { recursive: true });
	await rm(join(home, "blog"), { recursive: true });
	await pruneProofs(agentDir);
	expect(await left()).toBe(1);
	expect(await readdir(proofs)).toHaveLength(1);
	await writeFile(join(proofs, "stray"), "");
	await pruneProofs(agentDir);
	expect(await readdir(proofs)).toContain("stray");
});
