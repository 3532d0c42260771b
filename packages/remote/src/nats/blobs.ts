/**
 * Files on their way through the engine's object store. The side that asks gets the digest in a sealed answer and
 * checks what arrives, so the store need not be trusted; files that it lost are stored again.
 */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { ObjectStore } from "@nats-io/obj";
import { isObject } from "@pi-subagents/core";
import { Refused } from "../link/link.ts";
import type { Engine } from "./engine.ts";

/** Long enough for a fetch that has to wait for the engine. */
const TTL_NS = 24 * 60 * 60 * 1e9;
const ATTEMPTS = 3;
/** Making a bundle of a long history takes a while. */
const MAKE_MS = 120_000;

/** Puts a file into the store, unless it is there. Resolves with its digest, which is its name. */
export async function putBlob(engine: Engine, path: string): Promise<string> {
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	const digest = hash.digest("hex");
	const store = await openStore(engine);
	const known = await store.info(digest);
	if (known && !known.deleted) return digest;
	const content = Readable.toWeb(createReadStream(path)) as unknown as globalThis.ReadableStream<Uint8Array>;
	await store.put({ name: digest }, content);
	return digest;
}

export async function removeBlob(engine: Engine, digest: string): Promise<void> {
	await (await openStore(engine)).delete(digest);
}

/** Copies a file of the other side into a new one. `subject` is where to ask for it. Resolves with its digest. */
export async function getBlob(engine: Engine, subject: string, id: string, path: string): Promise<string> {
	for (let attempt = 1; ; attempt++) {
		const answer = await engine.request(subject, { does: "blob", id }, MAKE_MS);
		const digest = isObject(answer) && typeof answer.digest === "string" ? answer.digest : "";
		try {
			await copyTo(await openStore(engine), digest, path);
			return digest;
		} catch (error) {
			await rm(path, { force: true });
			if (attempt === ATTEMPTS) throw error;
		}
	}
}

async function copyTo(store: ObjectStore, digest: string, path: string): Promise<void> {
	const found = await store.get(digest);
	if (!found) throw new Error("a file is no longer in the engine's store");
	const hash = createHash("sha256");
	const read = async function* (source: AsyncIterable<Uint8Array>) {
		for await (const chunk of source) {
			hash.update(chunk);
			yield chunk;
		}
	};
	const content = Readable.fromWeb(found.data as unknown as ReadableStream<Uint8Array>);
	await pipeline(content, read, createWriteStream(path, { flags: "wx", mode: 0o600 }));
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
