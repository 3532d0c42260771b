/** A worker of a fleet that has the key, and sends without end. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@pi-subagents/core";
import { isFullRun } from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Piece } from "../../src/link/link.ts";
import { putBlob } from "../../src/nats/blobs.ts";
import { Engine } from "../../src/nats/engine.ts";
import { NatsLink } from "../../src/nats/near-link.ts";
import { RunWriter } from "../../src/nats/run-log.ts";
import { hasNats, startEngine } from "../fixtures/nats-engine.ts";

const MEGABYTE = 1024 * 1024;
const KEY = "a1-00ff";
const WORKER = { worker: "w-0000000000000000", life: "l1" };

/** An engine, a link, and a program that has the fleet's key and answers for the run as a worker would. */
async function fleet() {
	const dir = await mkdtemp(join(tmpdir(), "pi-fleet-endless-"));
	const engine = await startEngine(join(dir, "engine"));
	const access = { nats: engine.url, tokenFile: engine.tokenFile };
	const clock = systemClock;
	const client = await Engine.connect({ access, client: "liar", clock, onLink: () => undefined });
	const link = new NatsLink({ name: "fleet", access, clock, report: () => undefined });
	onTestFinished(async () => {
		link.close();
		await client.close();
		await engine[Symbol.asyncDispose]();
		await rm(dir, { recursive: true, force: true });
	});
	return { dir, client, link };
}

/** Resolves with the epoch that the near side began. */
function followed(client: Engine): Promise<string> {
	return new Promise((resolve) => {
		client.serve(client.names.to(KEY), async ({ epoch }) => {
			resolve(String(epoch));
			return WORKER;
		});
	});
}

describe.skipIf(!hasNats)("a worker that sends without end", () => {
	test("is read no faster than what it sends is kept", async () => {
		const { client, link } = await fleet();
		const writer = new RunWriter(client, KEY, WORKER);
		await writer.claim();
		const heard: number[] = [];
		const disk = Promise.withResolvers<void>();
		const unfollow = link.follow(
			KEY,
			async () => ({}),
			async (piece: Piece) => {
				if (piece.type === "bytes") heard.push(piece.at);
				await disk.promise;
			},
		);
		onTestFinished(unfollow);
		const epoch = await followed(client);
		const data = Buffer.alloc(100_000).toString("base64");
		for (let number = 1; number <= 50; number++) {
			const piece: Piece = { type: "bytes", file: "stdout", at: number, data };
			await writer.append("piece", { epoch, number, piece });
		}
		await expect.poll(() => heard).toEqual([1]);
		disk.resolve();
		await expect.poll(() => heard).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
	});

	test("a file that is larger than the limit is not copied, and one that nobody wants any more neither", async () => {
		const { dir, client, link } = await fleet();
		const source = join(dir, "bundle");
		await writeFile(source, randomBytes(12 * MEGABYTE));
		const digest = await putBlob(client, source);
		client.serve(client.names.to(KEY), async () => ({ digest }));
		const path = join(dir, "copy");
		const stopping = new AbortController();
		const { signal } = stopping;
		const limited = link.blobs.fetch(KEY, "work", path, { maxBytes: 3 * MEGABYTE, signal });
		await expect(limited).rejects.toThrow("more than 3 MB would have to be copied");
		await expect(stat(path)).rejects.toThrow("ENOENT");
		const fetched = link.blobs.fetch(KEY, "work", path, { maxBytes: 1e12, signal });
		fetched.catch(() => undefined);
		await expect
			.poll(
				() =>
					stat(path).then(
						({ size }) => size,
						() => 0,
					),
				{ interval: 1 },
			)
			.toBeGreaterThan(0);
		stopping.abort(new Error("it was stopped"));
		await expect(fetched).rejects.toThrow("it was stopped");
		await expect(stat(path)).rejects.toThrow("ENOENT");
	});

	if (isFullRun)
		test("a message in ever more parts ends the run", async () => {
			const { client, link } = await fleet();
			await new RunWriter(client, KEY, WORKER).claim();
			const ended = Promise.withResolvers<Piece>();
			onTestFinished(
				link.follow(
					KEY,
					async () => ({}),
					(piece) => ended.resolve(piece),
				),
			);
			await followed(client);
			const subject = client.names.run(KEY);
			const data = Buffer.alloc(client.maxBytes, "x");
			for (let part = 1; part <= 70; part++) {
				const [label, id] = [`${part}/1000000`, `${KEY}:${WORKER.worker}:piece:n:${part}`];
				const headers = client.sealed([subject, id, label].join("\n"), data);
				headers.set("Pi-Part", label);
				await client.js.publish(subject, data, { msgID: id, headers });
			}
			expect(await ended.promise).toMatchObject({ type: "gone", why: "a message of it is longer than 64 MB" });
		});
});
