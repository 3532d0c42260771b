import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { identityOf } from "../../core/src/signals/identity.ts";
import { claimDir } from "../src/index.ts";
import { releaseDir } from "../src/owner.ts";

async function runDir(): Promise<string> {
	const dir = await createTempDir();
	onTestFinished(dir.remove);
	return dir.path;
}

async function owners(dir: string): Promise<string[]> {
	return (await readdir(dir)).sort();
}

const dead = { pid: 1, born: "never", host: "", boot: null };

async function ownedBy(owner: object, dir: string, number = 1): Promise<void> {
	const { host } = await identityOf(process.pid);
	const file = { type: "owned", at: 1, ...dead, host, ...owner };
	await writeFile(join(dir, `owner-${number}.json`), JSON.stringify(file));
}

test("a run without an owner becomes ours, and stays so", async () => {
	const dir = await runDir();
	expect(await claimDir(dir, { sessionId: "s1" })).toEqual({ isOurs: true });
	expect(await claimDir(dir)).toEqual({ isOurs: true });
	expect(await owners(dir)).toEqual(["owner-1.json"]);
	expect(JSON.parse(await readFile(join(dir, "owner-1.json"), "utf8"))).toEqual({
		type: "owned",
		at: expect.any(Number),
		sessionId: "s1",
		...(await identityOf(process.pid)),
	});
});

test("a run that a living process owns stays its", async () => {
	const dir = await runDir();
	const owner = await identityOf(process.ppid);
	await ownedBy(owner, dir);
	expect(await claimDir(dir)).toEqual({ isOurs: false, owner });
	expect(await owners(dir)).toEqual(["owner-1.json"]);
});

test("a dead owner is followed by the next number", async () => {
	const dir = await runDir();
	await ownedBy({}, dir, 9);
	await ownedBy({}, dir, 10); // by number, not by name
	expect(await claimDir(dir)).toEqual({ isOurs: true });
	expect(await owners(dir)).toEqual(["owner-10.json", "owner-11.json", "owner-9.json"]);
});

test("an owner's file that was cut off owns nothing", async () => {
	const dir = await runDir();
	const whole = JSON.stringify({ type: "owned", at: 1, ...(await identityOf(process.ppid)) });
	for (let cut = 0; cut < whole.length; cut++) {
		await writeFile(join(dir, `owner-${2 * cut + 1}.json`), whole.slice(0, cut));
		expect(await claimDir(dir)).toEqual({ isOurs: true });
	}
});

test("a run that was let go can be claimed by anybody", async () => {
	const dir = await runDir();
	await claimDir(dir);
	releaseDir(dir);
	expect(await owners(dir)).toEqual(["owner-1.json", "owner-2.json"]);
	expect(JSON.parse(await readFile(join(dir, "owner-2.json"), "utf8"))).toMatchObject({ type: "released" });
	expect(await claimDir(dir)).toEqual({ isOurs: true });
	expect((await owners(dir)).at(-1)).toBe("owner-3.json");
});

test("only the owner lets go of a run", async () => {
	const dir = await runDir();
	await ownedBy(await identityOf(process.ppid), dir);
	releaseDir(dir);
	expect(await owners(dir)).toEqual(["owner-1.json"]);
});

test("of many processes that claim the run of a dead owner at once, one gets it", async () => {
	const dir = await runDir();
	await ownedBy({}, dir);
	const module = import.meta.resolve("../src/owner.ts");
	// Each says that it is ready, waits for the word, claims, and stays alive until its input ends.
	const script = `
		const { claimDir } = await import(${JSON.stringify(module)});
		process.stdout.write("ready\\n");
		process.stdin.once("data", async () => {
			process.stdout.write(JSON.stringify(await claimDir(${JSON.stringify(dir)})));
			process.stdin.once("end", () => process.exit());
		});`;
	const claimers = Array.from({ length: 6 }, () =>
		spawn(process.execPath, ["--input-type=module", "-C", "@pi-subagents/source", "-e", script], {
			stdio: ["pipe", "pipe", "inherit"],
		}),
	);
	onTestFinished(() => claimers.forEach((claimer) => void claimer.kill("SIGKILL")));
	await Promise.all(claimers.map(({ stdout }) => once(stdout, "data")));
	const claims = claimers.map(({ stdin, stdout }) => {
		const claim = once(stdout, "data").then(([data]) => JSON.parse(String(data)));
		stdin.write("go");
		return claim;
	});
	const results = await Promise.all(claims);
	const winners = claimers.filter((_claimer, index) => results[index].isOurs);
	expect(winners).toHaveLength(1);
	for (const { isOurs, owner } of results) if (!isOurs) expect(owner.pid).toBe(winners[0]?.pid);
	const ends = claimers.map(({ stdout }) => text(stdout));
	for (const { stdin } of claimers) stdin.end();
	await Promise.all(ends);
});

test("a run that one session of a process owns is not another's, also within the process", async () => {
	const dir = await runDir();
	expect(await claimDir(dir, { sessionId: "s1" })).toEqual({ isOurs: true });
	expect(await claimDir(dir, { sessionId: "s2" })).toEqual({ isOurs: false, owner: await identityOf(process.pid) });
	releaseDir(dir, { sessionId: "s2" });
	expect(await owners(dir)).toEqual(["owner-1.json"]);
	releaseDir(dir, { sessionId: "s1" });
	expect(await claimDir(dir, { sessionId: "s2" })).toEqual({ isOurs: true });
});

test("who cannot see the owner, from another container, does not take its run", async () => {
	const dir = await runDir();
	await ownedBy({ pid: 2 ** 22 + 1, boot: (await identityOf(process.pid)).boot, space: "pid:[1]" }, dir);
	expect(await claimDir(dir)).toMatchObject({ isOurs: false, owner: { space: "pid:[1]" } });
});
