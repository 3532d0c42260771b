/** What travels between machines: orders, frames, pieces of runs, files. */
import { strict as assert } from "node:assert";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, normalize } from "node:path";
import { PassThrough } from "node:stream";
import { sampleSpec } from "@pi-subagents/core/testing";
import fc from "fast-check";
import { Refused } from "../../../../packages/remote/src/link/link.ts";
import { buildOrder, parseOrder, WORKSPACE } from "../../../../packages/remote/src/link/order.ts";
import { Channel } from "../../../../packages/remote/src/stdio/channel.ts";
import {
	checked,
	controlSchema,
	copyBlob,
	followSchema,
	helloSchema,
	pieceSchema,
	readSchema,
} from "../../../../packages/remote/src/stdio/protocol.ts";
import { changedFile, changedJson } from "../mutate.ts";
import { parsed, resolved, type Target, target, unpolluted } from "../target.ts";

const FETCH_LIMITS = { maxBytes: 1_000_000, signal: new AbortController().signal };
const commit = "a".repeat(40);
const repository = { commit, blob: `work-${commit}`, base: { commit, blob: `base-${commit}` }, inside: "sub/dir" };
const ORDER = JSON.parse(
	JSON.stringify(
		buildOrder(
			{ ...sampleSpec, agentId: "a1", run: 1, tools: ["read"] },
			{ key: "a1-00ff", isTrusted: false, aliases: [], repository },
		),
	),
) as unknown;

const BODIES = [
	{ protocol: 1, version: "0.1.0" },
	{ key: "a1-00ff", marks: { events: 3, session: 0 } },
	{ key: "a1-00ff", message: { type: "lines", at: 3, text: "{}\n" } },
	{ key: "a1-00ff", id: "work", at: 0 },
	{ key: "a1-00ff", piece: { type: "bytes", file: "events", at: 0, data: "e30K" } },
	{ key: "a1-00ff", piece: { type: "result", text: "{}", work: { blob: "out", tip: commit } } },
];
const SCHEMAS = [helloSchema, followSchema, controlSchema, readSchema, pieceSchema];
const FRAMES = [
	{ id: 1, does: "hear", body: {} },
	{ id: 1, ok: true, value: 3 },
	{ id: 2, ok: false, error: "no", isFinal: true },
	{ does: "beat", body: {} },
].map((frame) => `${JSON.stringify(frame)}\n`);

export const remoteTargets: Target[] = [
	target("an order is plain and stays in its directory, or is none", changedJson([ORDER]), (value) => {
		const order = parseOrder(value);
		unpolluted();
		if (!order) return;
		for (const name of [order.key, order.agentId, order.conversation ?? "x", order.repository?.blob ?? "x"])
			assert.match(name, /^[\w-][\w.-]*$/);
		assert.equal(order.spec.cwd, WORKSPACE);
		const inside = order.repository?.inside ?? "";
		assert.ok(!isAbsolute(inside) && !normalize(inside).startsWith(".."), `it works in ${inside}`);
		assert.deepEqual(
			[order.spec.runsDir, order.spec.memoryDir, order.spec.confinedTo],
			[undefined, undefined, undefined],
		);
		assert.deepEqual(parseOrder(JSON.parse(JSON.stringify(order))), JSON.parse(JSON.stringify(order)));
	}),
	target(
		"a message between machines names no path",
		fc.tuple(changedJson(BODIES), fc.constantFrom(...SCHEMAS)),
		([body, schema]) => {
			const found = parsed(() => checked<Record<string, unknown>>(schema, body, "the message"), Refused);
			for (const name of [found?.key, found?.id]) if (typeof name === "string") assert.match(name, /^[\w-][\w.-]*$/);
		},
	),
	target(
		"any bytes on a connection are heard, answered or dropped",
		fc.array(changedFile(FRAMES), { maxLength: 5 }),
		async (pieces) => {
			const input = new PassThrough();
			const output = new PassThrough();
			const closed = Promise.withResolvers<void>();
			const channel = new Channel({ input, output, handlers: { hear: () => 1 }, onClosed: closed.resolve });
			const waiting = channel.request("ask", {}).catch((error: unknown) => assert.ok(error instanceof Error));
			for (const piece of pieces) input.write(piece);
			input.end();
			output.resume();
			await closed.promise;
			await waiting;
		},
	),
	target(
		"a file of the other machine is copied whole, or the copy ends with an error",
		fc.array(
			changedJson([
				{ data: "AAAA", isLast: false },
				{ data: "", isLast: false },
				{ data: "AAAA", isLast: true },
			]),
			{ minLength: 1, maxLength: 4 },
		),
		async (chunks) => {
			const path = join(tmpdir(), `pi-fuzz-blob-${process.pid}`);
			await rm(path, { force: true });
			let reads = 0;
			await resolved(
				() =>
					copyBlob(
						path,
						async () => {
							const chunk = chunks[Math.min(reads++, chunks.length - 1)];
							const isEmpty = (chunk as { data?: unknown } | null)?.data === "";
							assert.ok(reads < 50 || !isEmpty, "it asks for ever");
							return reads < 50 ? chunk : { data: "", isLast: true };
						},
						FETCH_LIMITS,
					),
				Refused,
			);
			await rm(path, { force: true });
		},
	),
];
