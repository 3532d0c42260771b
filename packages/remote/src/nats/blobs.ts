/**
 * Files on their way through the engine's object store. The side that asks gets the digest in a sealed answer and
 * checks what arrives, so the store need not be trusted; files that it lost are stored again.
 */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { ObjectStore } from "@nats-io/obj";
import { isObject } from "@pi-subagents/core/internal/base";
import { openPlain } from "@pi-subagents/core/internal/files";
import { tooLarge, unlessAborted } from "../link/limits.ts";
import { type FetchLimits, Refused } from "../link/link.ts";
import type { Engine } from "./engine.ts";

/** Long enough for a fetch that has to wait for the engine. */
const TTL_NS = 24 * 60 * 60 * 1e9;
const ATTEMPTS = 3;
/** Making a bundle of a long history takes a while. */
const MAKE_MS = 120_000;

/** Puts a file into the store, unless it is there. Resolves with its digest, which is its name. */
export async function putBlob(engine: Engine, path: string): Promise<string> {
	const hash = createHash("sha256");
	await pipeline((await openPlain(path)).createReadStream(), hash);
	const digest = hash.digest("hex");
	const store = await openStore(engine);
	const known = await store.info(digest);
	if (known && !known.deleted) return digest;
	const file = (await openPlain(path)).createReadStream();
	const content = Readable.toWeb(file) as unknown as globalThis.ReadableStream<Uint8Array>;
	await store.put({ name: digest }, content);
	return digest;
}

export async function removeBlob(engine: Engine, digest: string): Promise<void> {
	await (await openStore(engine)).delete(digest);
}

/** Copies a file of the other side into a new one. `subject` is where to ask for it. Resolves with its digest. */
export async function getBlob(
	engine: Engine,
	{ subject, id }: { subject: string; id: string },
	path: string,
	limits: FetchLimits,
): Promise<string> {
	const { signal } = limits;
	for (let attempt = 1; ; attempt++) {
		const answer = await unlessAborted(engine.request(subject, { does: "blob", id }, MAKE_MS), signal);
		const digest = isObject(answer) && typeof answer.digest === "string" ? answer.digest : "";
		try {
			await copyTo(await openStore(engine), digest, path, limits);
			return digest;
		} catch (error) {
			await rm(path, { force: true });
			signal.throwIfAborted();
			if (attempt === ATTEMPTS || error instanceof TooLarge) throw error;
		}
	}
}

/** Trying again would not help. */
class TooLarge extends Refused {}

async function copyTo(
	store: ObjectStore,
	digest: string,
	path: string,
	{ maxBytes, signal }: FetchLimits,
): Promise<void> {
	const known = await unlessAborted(store.info(digest), signal);
	if ((known?.size ?? 0) > maxBytes) throw new TooLarge(tooLarge(maxBytes).message); // before anything of it is sent
	const found = await unlessAborted(store.get(digest), signal);
	if (!found) throw new Error("a file is no longer in the engine's store");
	found.error.catch(() => undefined); // it rejects also when we stop reading, and is awaited below
	const hash = createHash("sha256");
	let size = 0;
	const read = async function* (source: AsyncIterable<Uint8Array>) {
		for await (const chunk of source) {
			size += chunk.length;
			if (size > maxBytes) throw new TooLarge(tooLarge(maxBytes).message);
			hash.update(chunk);
			yield chunk;
		}
	};
	const content = Readable.fromWeb(found.data as unknown as ReadableStream<Uint8Array>);
	await pipeline(content, read, createWriteStream(path, { flags: "wx", mode: 0o600 }), { signal });
	const error = await found.error;
	if (error) throw error;
	if (hash.digest("hex") !== digest) throw new Refused("a file arrived changed");
}

async function openStore(engine: Engine): Promise<ObjectStore> {
	const manager = new engine.nats.Objm(engine.js);
	const { bucket } = engine.names;
	try {
		return await manager.open(bucket, true);
	} catch {
		return manager.create(bucket, { ttl: TTL_NS });
	}
}
