/** The worker's end of a pipe or an ssh connection. */
import type { Readable, Writable } from "node:stream";
import { type Clock, steadyClock } from "@pi-subagents/core";
import type { FetchBlob, Worker } from "../far/worker.ts";
import { Channel } from "./channel.ts";
import {
	BEAT_MS,
	type ControlBody,
	checked,
	controlSchema,
	copyBlob,
	type FollowBody,
	followSchema,
	type Hello,
	PROTOCOL,
	readChunk,
	readSchema,
	SILENCE_MS,
	unfollowSchema,
} from "./protocol.ts";

export interface ServeOptions {
	worker: Worker;
	version: string;
	input: Readable;
	output: Writable;
	clock: Clock;
}

/** A repository with its whole history is the largest. */
const MAX_FETCHED_BYTES = 16 * 1024 * 1024 * 1024;

/** Resolves when the near side is gone, and with it all that had to be kept for it. */
export async function serve({ worker, version, input, output, clock }: ServeOptions): Promise<void> {
	const closed = Promise.withResolvers<void>();
	const steady = steadyClock(clock);
	const abandoned = new AbortController();
	/** Timers of a process that was stopped, or of a machine that slept, are late; one of the two clocks shows it. */
	const moment = () => ({ steady: steady.now(), wall: clock.now() });
	let lastSign = moment();
	const silentMs = () => {
		const now = moment();
		return Math.max(now.steady - lastSign.steady, now.wall - lastSign.wall);
	};
	const channel: Channel = new Channel({
		input,
		output,
		onSign: () => {
			// What waited that long is not obeyed: the near side has given us up, and may have asked another worker.
			if (silentMs() > SILENCE_MS - BEAT_MS) return channel.close();
			lastSign = moment();
		},
		onClosed: () => {
			abandoned.abort();
			closed.resolve();
		},
		handlers: {
			beat: () => undefined,
			submit: (body) => {
				const limits = { maxBytes: MAX_FETCHED_BYTES, signal: abandoned.signal };
				const fetch: FetchBlob = (id, path) => copyBlob(path, (at) => channel.request("blob", { id, at }), limits);
				return worker.accept(body, fetch, abandoned.signal);
			},
			follow: (body) => {
				const { key, marks } = checked<FollowBody>(followSchema, body, "the request to follow a run");
				return worker.follow(key, marks, (piece) => channel.notify("piece", { key, piece }));
			},
			unfollow: (body) => {
				const { key } = checked<{ key: string }>(unfollowSchema, body, "a request");
				worker.unfollow(key);
			},
			control: (body) => {
				const { key, message } = checked<ControlBody>(controlSchema, body, "a message to a run");
				return worker.control(key, message);
			},
			read: (body) => {
				const { key = "", id, at } = checked<ReadBody>(readSchema, body, "a request for a file");
				return readChunk(worker.blobPath(key, id), at);
			},
		},
	});
	const hello: Hello = { protocol: PROTOCOL, version };
	await channel.notify("hello", hello).catch(() => channel.close());
	const beat = () => {
		cancel = steady.after(BEAT_MS, () => {
			if (silentMs() > SILENCE_MS) return channel.close();
			void channel.notify("beat", {}).catch(() => channel.close());
			beat();
		});
	};
	let cancel = (): void => undefined;
	beat();
	await closed.promise;
	cancel();
	await worker.leave();
}

type ReadBody = { key?: string; id: string; at: number };
