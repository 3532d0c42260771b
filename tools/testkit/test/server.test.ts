/** Each thing the scripted server can do, as the real pi sees it. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
	assistantTexts,
	type Bench,
	callTool,
	callTools,
	converse,
	createBench,
	createGate,
	cutOff,
	garbage,
	gatePis,
	hang,
	httpError,
	lastUserSays,
	once,
	otherwise,
	type PiEvent,
	type PiRpc,
	rateLimited,
	runJson,
	type ServedRequest,
	say,
	startModelServer,
	startRpc,
	when,
} from "../src/index.ts";

const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2 };
const asked = (prompt: string) => (request: ServedRequest) => request.lastUserText === prompt;

describe.each(await gatePis())("pi $version", (pi) => {
	const before = createGate();
	const middle = createGate();
	const rules = [
		when(lastUserSays("chunks"), say("aaaabbbb😀", { chunkSize: 4, thinking: "hm", usage })),
		converse(
			lastUserSays("both"),
			callTools(callTool("read", { path: "a.txt" }), callTool("read", { path: "b.txt" })),
			say("done"),
		),
		when(lastUserSays("gate before"), say("one", { gate: before })),
		when(lastUserSays("gate in the middle"), say("abcdef", { chunkSize: 3, gate: middle, chunksBeforeGate: 1 })),
		when(lastUserSays("hang"), hang()),
		when(lastUserSays("status"), httpError(503, "down for tea")),
		when(lastUserSays("limit"), rateLimited({ retryAfterSeconds: 1 })),
		when(lastUserSays("cut"), cutOff(say("one two three", { chunkSize: 4 }), { afterChunks: 2 })),
		when(lastUserSays("garbage"), garbage()),
	];
	let bench: Bench;
	let rpc: PiRpc;
	beforeAll(async () => {
		bench = await createBench({ rules, files: { "a.txt": "alpha", "b.txt": "beta" } });
		rpc = startRpc({ env: bench.env, pi });
	});
	afterAll(() => bench.close());

	test("text comes in chunks, with thinking and usage", async () => {
		const events = await rpc.prompt("chunks");
		expect(textDeltas(events)).toEqual(["aaaa", "bbbb", "😀"]);
		expect(lastAssistant(events)).toMatchObject({
			content: [
				{ type: "thinking", thinking: "hm" },
				{ type: "text", text: "aaaabbbb😀" },
			],
			stopReason: "stop",
			usage: { ...usage, totalTokens: 20 },
		});
	});

	test("tool calls go out together and their results come back together", async () => {
		expect(assistantTexts(await rpc.prompt("both"))).toEqual(["done"]);
		const [first, second] = bench.server.requests.filter(asked("both"));
		expect([first?.turn, second?.turn]).toEqual([1, 2]);
		expect(second?.lastToolResults).toEqual([
			{ role: "tool", id: `call_${first?.number}_0`, name: "read", text: "alpha" },
			{ role: "tool", id: `call_${first?.number}_1`, name: "read", text: "beta" },
		]);
		expect(second?.messages.findLast((message) => message.role === "assistant")).toMatchObject({
			toolCalls: [
				{ name: "read", args: { path: "a.txt" } },
				{ name: "read", args: { path: "b.txt" } },
			],
		});
	});

	test("a gate holds the answer back", async () => {
		const run = rpc.prompt("gate before");
		expect(await bench.server.nextRequest(asked("gate before"))).toMatchObject({ answered: false });
		before.open();
		expect(assistantTexts(await run)).toEqual(["one"]);
	});

	test("a gate in the middle holds the rest of the answer back", async () => {
		const run = rpc.prompt("gate in the middle");
		await rpc.waitFor((event) => textDeltas([event]).includes("abc"));
		expect(textDeltas(rpc.events)).not.toContain("def");
		middle.open();
		expect(textDeltas(await run)).toEqual(["abc", "def"]);
	});

	test("an abort in pi is seen by the server", async () => {
		const run = rpc.prompt("hang");
		expect(await bench.server.nextRequest(asked("hang"))).toMatchObject({ aborted: false });
		await rpc.send({ type: "abort" });
		expect(lastAssistant(await run)).toMatchObject({ stopReason: "aborted" });
		expect(await bench.server.nextRequest((request) => request.aborted)).toMatchObject({
			lastUserText: "hang",
			answered: false,
		});
	});

	test("a status with a body is an error with that body", async () => {
		const events = await rpc.prompt("status");
		expect(lastAssistant(events)).toMatchObject({ stopReason: "error", errorMessage: "503 down for tea" });
	});

	test("429 is not retried unless the settings say so", async () => {
		const events = await rpc.prompt("limit");
		expect(lastAssistant(events)).toMatchObject({ errorMessage: expect.stringMatching(/^429.*Rate limit/) });
		expect(bench.server.requests.filter(asked("limit"))).toHaveLength(1);
	});

	test("a stream that is cut keeps what came before and ends in an error", async () => {
		const events = await rpc.prompt("cut");
		expect(textDeltas(events)).toEqual(["one ", "two "]);
		expect(lastAssistant(events)).toMatchObject({ stopReason: "error", errorMessage: "terminated" });
		expect(bench.server.requests.find(asked("cut"))).toMatchObject({ aborted: false, answered: false });
	});

	test("garbage is an error", async () => {
		expect(lastAssistant(await rpc.prompt("garbage"))).toMatchObject({ stopReason: "error" });
	});

	test("a request that no rule takes is an error that says what was asked", async () => {
		const errorMessage = expect.stringMatching(/No rule of the test matches request \d+, model fake-1, turn 1.*who\?/);
		expect(lastAssistant(await rpc.prompt("who?"))).toMatchObject({ stopReason: "error", errorMessage });
	});

	test("requests show the model, the system prompt, the tools, the headers and the raw body", async () => {
		const { env, server, close } = await createBench({ rules: [otherwise(say("ok"))] });
		onTestFinished(close);
		await runJson({ env, pi, args: ["--append-system-prompt", "You are blue.", "--tools", "read,ls"] }, "go");
		const request = await server.nextRequest((seen) => seen.answered);
		expect(request).toMatchObject({ number: 1, model: "fake-1", aborted: false, raw: { stream: true } });
		expect(request.systemPrompt).toContain("You are blue.");
		expect(request.tools.map((tool) => tool.name).sort()).toEqual(["ls", "read"]);
		expect(request.tools[0]?.description).not.toBe("");
		expect(request.headers.authorization).toBe("Bearer none");
	});

	test("429 with Retry-After is retried, if the settings say so", async () => {
		const { env, server, close } = await createBench({
			rules: [once(otherwise(rateLimited({ retryAfterSeconds: 0.2 }))), otherwise(say("at last"))],
			settings: { retry: { enabled: false, provider: { maxRetries: 1 } } },
		});
		onTestFinished(close);
		expect(assistantTexts((await runJson({ env, pi }, "go")).events)).toEqual(["at last"]);
		expect(server.requests).toHaveLength(2);
	});
});

describe("without pi", () => {
	const ask = (baseUrl: string) =>
		fetch(`${baseUrl}/chat/completions`, { method: "POST", body: JSON.stringify({ model: "m", messages: [] }) });

	test("closing ends answers that hang, and waiting for more requests", async () => {
		const server = await startModelServer({ rules: [otherwise(hang())] });
		const answer = ask(server.baseUrl);
		await server.nextRequest();
		const never = server.nextRequest((request) => request.number === 2);
		await Promise.all([
			expect(answer).rejects.toThrow(),
			expect(never).rejects.toThrow(/^The model server is closed\nNo such request among these:\nrequest 1/),
			server.close(),
		]);
		expect(server.requests).toMatchObject([{ aborted: false, answered: false }]);
	});

	test("chunks can be delayed", async () => {
		const server = await startModelServer({ rules: [otherwise(say("abc", { chunkSize: 1, chunkDelayMs: 5 }))] });
		onTestFinished(server.close);
		const text = await (await ask(server.baseUrl)).text();
		expect([...text.matchAll(/"content":"(.)"/g)].map((match) => match[1])).toEqual(["a", "b", "c"]);
	});

	test("a rule that throws is an error that says so", async () => {
		const rule = () => {
			throw new Error("oops");
		};
		const server = await startModelServer({ rules: [rule] });
		onTestFinished(server.close);
		const response = await ask(server.baseUrl);
		expect(response.status).toBe(400);
		expect(await response.text()).toContain("A rule of the test threw Error: oops");
	});

	test("other paths are not found", async () => {
		const server = await startModelServer({ rules: [] });
		onTestFinished(server.close);
		expect((await fetch(`${server.baseUrl}/models`)).status).toBe(404);
	});
});

function lastAssistant(events: readonly PiEvent[]) {
	const ends = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
	return ends.filter((message) => message.role === "assistant").at(-1);
}

function textDeltas(events: readonly PiEvent[]): string[] {
	return events.flatMap((event) => {
		if (event.type !== "message_update" || event.assistantMessageEvent.type !== "text_delta") return [];
		return [event.assistantMessageEvent.delta];
	});
}

test("what was asked can be forgotten, and requests are still told apart", async () => {
	await using server = await startModelServer({ rules: [otherwise(callTool("read", { path: "a.txt" }))] });
	const ask = async () => {
		const response = await fetch(`${server.baseUrl}/chat/completions`, {
			method: "POST",
			body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "Hi" }] }),
		});
		return /call_\d+_\d+/.exec(await response.text())?.[0];
	};
	const first = await ask();
	server.forget();
	expect(server.requests).toEqual([]);
	expect(await ask()).not.toBe(first);
	expect(server.requests).toHaveLength(1);
});
