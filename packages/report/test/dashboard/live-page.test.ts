import { expect, test } from "vitest";
import { Changes } from "../../src/dashboard/changes.ts";
import { buildReport, type Report } from "../../src/index.ts";
import { followLive, type LiveState } from "../../src/page/live.ts";
import { family, launched } from "../fixtures/runs.ts";

const report = buildReport([...family(), launched("ü", { agent: { task: "Größe? 🙂" } })], { now: 9_999 });

function firstLine(): string {
	const changes = new Changes();
	changes.take(report);
	return `${JSON.stringify(changes.since(0))}\n`;
}

/** A server as a list of answers; each body comes in pieces of so many bytes. */
async function followed(answers: (() => Response | Promise<Response>)[]) {
	const states: (LiveState | string)[] = [];
	const reports: Report[] = [];
	const asked: unknown[] = [];
	await followLive({
		token: "t0ken",
		fetch: async (url, init) => {
			asked.push([url, init?.headers]);
			const next = answers.shift();
			if (!next) throw new Error("asked too often");
			return next();
		},
		whenVisible: async () => undefined,
		hidden: () => new AbortController().signal,
		sleep: async (ms) => void states.push(`waits ${ms}`),
		onReport: (each) => reports.push(each),
		onState: (state) => states.push(state),
		onProblem: (text) => states.push(text),
	});
	return { states, reports, asked };
}

function body(text: string, pieceBytes = 7): Response {
	const bytes = new TextEncoder().encode(text);
	const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
		bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
	);
	const start = (controller: ReadableStreamDefaultController) => {
		for (const piece of pieces) controller.enqueue(piece);
		controller.close();
	};
	return new Response(new ReadableStream({ start }));
}

test("lines may be cut anywhere, even inside a character; after the end nothing is asked any more", async () => {
	const { states, reports, asked } = await followed([() => body(`${firstLine()}{"type":"end"}\n`)]);
	expect(states).toEqual(["live", "ended"]);
	expect(reports).toEqual([report]);
	expect(asked).toEqual([["/live", { authorization: "Bearer t0ken" }]]);
});

test("a lost connection is tried again, each time later, and from the start when it is back", async () => {
	const lost = () => Promise.reject(new TypeError("no connection"));
	const { states, reports } = await followed([
		lost,
		lost,
		() => body(firstLine()), // and cut off
		() => new Response("", { status: 503 }),
		() => body(`{"type":"problem","text":"The disk is gone."}\n${firstLine()}{"type":"end"}\n`),
	]);
	const steps = ["lost", "waits 500", "lost", "waits 1000", "live", "lost", "waits 500", "lost", "waits 1000", "live"];
	expect(states).toEqual([...steps, "The disk is gone.", "ended"]);
	expect(reports).toEqual([report, report]);
});

test("a wrong token is said, and not tried again", async () => {
	expect((await followed([() => new Response("", { status: 401 })])).states).toEqual(["refused"]);
});
