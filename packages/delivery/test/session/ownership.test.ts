import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identityOf } from "@pi-subagents/core/internal/signals";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOwnership, pruneOwners } from "../../src/index.ts";

let agentDir: string;
beforeEach(async () => {
	agentDir = await mkdtemp(join(await realpath(tmpdir()), "pi-owner-"));
});
afterEach(() => rm(agentDir, { recursive: true, force: true }));

const openDir = () => join(agentDir, "state", "subagents", "open");

/** Without an id, no other process can open the session. */
function pi(id = "s1") {
	const told: string[] = [];
	const dir = () => (id === "" ? undefined : join(openDir(), id));
	return { told, ...createOwnership({ dir, warn: (text) => told.push(text) }) };
}

async function ownedBy(owner: object): Promise<void> {
	await mkdir(join(openDir(), "s1"), { recursive: true });
	const file = { type: "owned", at: 1, ...(await identityOf(process.ppid)), ...owner };
	await writeFile(join(openDir(), "s1", "owner-1.json"), JSON.stringify(file));
}

test("the first pi speaks for a session, and leaves nothing behind", async () => {
	const { take, release, told } = pi();
	expect(await Promise.all([take(), take()])).toEqual([true, true]);
	expect(await readdir(join(openDir(), "s1"))).toEqual(["owner-1.json"]);
	release();
	release();
	expect(await readdir(openDir())).toEqual([]);
	expect(told).toEqual([]);
});

test("a pi that was killed is forgotten, and one that lives is not", async () => {
	await ownedBy({ born: "long ago", boot: "another start" });
	const living = pi("s2");
	await living.take();
	await mkdir(join(openDir(), "s3"));
	await writeFile(join(openDir(), "s3", "mine"), "");
	const told: string[] = [];
	await pruneOwners(openDir(), (text) => told.push(text));
	expect([(await readdir(openDir())).toSorted(), told]).toEqual([["s2", "s3"], []]);
	expect(await readdir(join(openDir(), "s2"))).toEqual(["owner-1.json"]);
	expect(await readdir(join(openDir(), "s3"))).toEqual(["mine"]);
	living.release();
});

test("what a full disk has left half done is cleared away, too", async () => {
	const half = "owner-1.json.1-00000000-0000-0000-0000-000000000000.tmp";
	const first = pi();
	await first.take();
	await writeFile(join(openDir(), "s1", half), "{");
	first.release();
	expect(await readdir(openDir())).toEqual([]);

	const second = pi();
	await mkdir(join(openDir(), "s1", "owner-999999999.json"), { recursive: true }); // no further number can be claimed
	await expect(second.take()).rejects.toThrow();
	await rm(join(openDir(), "s1", "owner-999999999.json"), { recursive: true });
	second.release();
	expect(await readdir(openDir())).toEqual([]);
});

test("a session that could not be released is released with the next one", async () => {
	const first = pi();
	await first.take();
	await rm(join(openDir(), "s1", "owner-1.json"));
	await mkdir(join(openDir(), "s1", "owner-1.json", "in the way"), { recursive: true }); // as good as a read-only disk
	expect(() => first.release()).toThrow();
	await rm(join(openDir(), "s1", "owner-1.json"), { recursive: true });
	await writeFile(join(openDir(), "s1", "owner-1.json"), "{}");
	const next = pi("s2");
	await next.take();
	next.release();
	expect(await readdir(openDir())).toEqual([]);
});

test("while another pi lives it speaks, and the user is told so", async () => {
	await ownedBy({});
	const { take, release, told } = pi();
	expect(await take()).toBe(false);
	release();
	expect(await readdir(join(openDir(), "s1"))).toEqual(["owner-1.json"]);
	expect(told).toEqual([expect.stringContaining(`process ${process.ppid}`)]);
});

test("one that is gone is followed, and cleared away", async () => {
	await ownedBy({ born: "never" });
	const { take, release } = pi();
	expect(await take()).toBe(true);
	release();
	expect(await readdir(openDir())).toEqual([]);
});

test("one on another machine does not silence this one", async () => {
	await ownedBy({ host: "elsewhere" });
	const { take, release, told } = pi();
	expect(await take()).toBe(true);
	release();
	expect(await readdir(join(openDir(), "s1"))).toEqual(["owner-1.json"]);
	expect(told).toEqual([]);
});

test("a session that was closed meanwhile is not kept", async () => {
	const { take, release } = pi();
	const taking = take();
	release();
	expect(await taking).toBe(true);
	expect(await readdir(openDir())).toEqual([]);
});

test("nothing is written for a session that nobody else can open", async () => {
	expect(await pi("").take()).toBe(true);
	await expect(readdir(openDir())).rejects.toThrow("ENOENT");
});
