/** What the two ends of a pipe or an ssh connection say to each other. Both ends check what they receive. */
import { type FileHandle, open } from "node:fs/promises";
import { openPlain } from "@pi-subagents/core/internal/files";
import { type TProperties, type TSchema, Type } from "typebox";
import { Check } from "typebox/value";
import { tooLarge, unlessAborted } from "../link/limits.ts";
import { type ControlMessage, type FetchLimits, GROWING, type Marks, type Piece, Refused } from "../link/link.ts";

/** Changes when an older end would misunderstand a newer one. */
export const PROTOCOL = 1;

/** How often each end shows that it lives, and how long the other believes it without a sign. */
export const BEAT_MS = 5_000;
export const SILENCE_MS = 20_000;

/** The worker's first words. */
export interface Hello {
	protocol: number;
	version: string;
}

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const text = Type.String();
const keySchema = Type.String({ pattern: "^[\\w-][\\w.-]{0,255}$" });
const file = Type.Enum([...GROWING]);

function shape<const Fields extends TProperties & Record<string, TSchema>>(type: string, fields: Fields) {
	return Type.Object({ type: Type.Literal(type), ...fields });
}

export const helloSchema = Type.Object({ protocol: count, version: Type.String({ maxLength: 100 }) });
export const followSchema = Type.Object({
	key: keySchema,
	marks: Type.Object(Object.fromEntries(GROWING.map((name) => [name, Type.Optional(count)]))),
});
export const unfollowSchema = Type.Object({ key: keySchema });
export const controlSchema = Type.Object({
	key: keySchema,
	message: Type.Union([shape("lines", { at: count, text }), shape("kill", {}), shape("done", {})]),
});
export const readSchema = Type.Object({ key: Type.Optional(keySchema), id: keySchema, at: count });
const chunkSchema = Type.Object({ data: text, isLast: Type.Boolean() });
const hash = Type.String({ pattern: "^[0-9a-f]{40,64}$" });
export const pieceSchema = Type.Object({
	key: keySchema,
	piece: Type.Union([
		shape("bytes", { file, at: count, data: text }),
		shape("wrapper", { text }),
		shape("control", { size: count }),
		shape("result", {
			text,
			session: Type.Optional(hash),
			work: Type.Optional(Type.Object({ blob: keySchema, tip: hash, left: Type.Optional(text) })),
		}),
		shape("gone", { why: text, isOver: Type.Optional(Type.Boolean()) }),
	]),
});

export type FollowBody = { key: string; marks: Marks };
export type ControlBody = { key: string; message: ControlMessage };
export type PieceBody = { key: string; piece: Piece };

/** Throws if the other side sent something else. */
export function checked<T>(schema: TSchema, value: unknown, what: string): T {
	if (!Check(schema, value)) throw new Refused(`${what} is not understood; the versions may differ`);
	return value as T;
}

const CHUNK_BYTES = 1024 * 1024;

/** A part of a file, as an answer to `readSchema`. */
export async function readChunk(path: string, at: number): Promise<{ data: string; isLast: boolean }> {
	const handle = await openPlain(path);
	try {
		const bytes = Buffer.allocUnsafe(CHUNK_BYTES);
		const { bytesRead } = await handle.read(bytes, 0, CHUNK_BYTES, at);
		return { data: bytes.toString("base64", 0, bytesRead), isLast: bytesRead < CHUNK_BYTES };
	} finally {
		await handle.close();
	}
}

/**
 * Copies a file part by part. `read` asks the other side for the part at an offset. Nothing is asked for after the signal
 * fired, or once the file is larger.
 */
export async function copyBlob(
	path: string,
	read: (at: number) => Promise<unknown>,
	{ maxBytes, signal }: FetchLimits,
): Promise<void> {
	signal.throwIfAborted();
	const handle: FileHandle = await open(path, "wx", 0o600);
	try {
		for (let at = 0, isLast = false; !isLast; ) {
			const answer = await unlessAborted(read(at), signal);
			const chunk = checked<{ data: string; isLast: boolean }>(chunkSchema, answer, "a part of a file");
			const bytes = Buffer.from(chunk.data, "base64");
			// Else a file of any length could take for ever.
			if (bytes.length > CHUNK_BYTES || (bytes.length < CHUNK_BYTES && !chunk.isLast))
				throw new Refused("a part of a file is too short, and not the last one, or too long");
			if (at + bytes.length > maxBytes) throw tooLarge(maxBytes);
			await handle.write(bytes, 0, bytes.length, at);
			at += bytes.length;
			isLast = chunk.isLast;
		}
	} finally {
		await handle.close();
	}
}
