/**
 * The stream of a live page. `fetch` and not `EventSource`, which can send no header: the token would have to be in the
 * URL. Tries again when the connection is lost; a hidden page has no stream, because browsers allow only a few to one
 * server.
 */
import { type Update, updated } from "../dashboard/changes.ts";
import type { Report } from "../model/types.ts";

export type LiveState = "connecting" | "live" | "lost" | "ended" | "refused";

export interface LiveDeps {
	token: string;
	fetch: typeof fetch;
	/** Resolves when the page is in sight, at once if it is. */
	whenVisible: () => Promise<void>;
	/** Aborted as soon as the page is hidden. */
	hidden: () => AbortSignal;
	sleep: (ms: number) => Promise<void>;
	onReport: (report: Report) => void;
	onState: (state: LiveState) => void;
	onProblem: (text: string) => void;
}

const SHORTEST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** Resolves when nothing more can come. */
export async function followLive(deps: LiveDeps): Promise<void> {
	const { onState, sleep, whenVisible, hidden } = deps;
	for (let wait = SHORTEST_WAIT_MS; ; ) {
		await whenVisible();
		const signal = hidden();
		const how = await listen(deps, signal, () => {
			wait = SHORTEST_WAIT_MS;
			onState("live");
		});
		if (how !== "lost") return onState(how);
		if (signal.aborted) continue;
		onState("lost");
		await sleep(wait);
		wait = Math.min(wait * 2, LONGEST_WAIT_MS);
	}
}

async function listen(deps: LiveDeps, signal: AbortSignal, onOpen: () => void): Promise<LiveState> {
	try {
		const headers = { authorization: `Bearer ${deps.token}` };
		const response = await deps.fetch("/live", { headers, signal, cache: "no-store" });
		if (response.status === 401 || response.status === 403) return "refused";
		if (!response.ok || !response.body) return "lost";
		onOpen();
		return await read(response.body, deps);
	} catch {
		return "lost"; // no server, no connection any more, or a hidden page
	}
}

async function read(body: ReadableStream<Uint8Array>, { onReport, onProblem }: LiveDeps): Promise<LiveState> {
	const decoder = new TextDecoder();
	const reader = body.getReader();
	let report: Report | undefined;
	for (let parts: string[] = []; ; ) {
		const { done, value } = await reader.read();
		if (done) return "lost";
		const [first = "", ...more] = decoder.decode(value, { stream: true }).split("\n");
		parts.push(first);
		for (const next of more) {
			const update = JSON.parse(parts.join("")) as Update;
			parts = [next];
			if (update.type === "end") return "ended";
			if (update.type === "problem") onProblem(update.text);
			else {
				report = updated(report, update);
				onReport(report);
			}
		}
	}
}
