import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { SharedTap, tapResponses } from "../../src/providers/response-tap.ts";

/** Refuses, and asks for as much patience as the path says. */
async function refusing(): Promise<string> {
	const server = createServer((request, response) => {
		request.resume();
		response.writeHead(429, { "Retry-After": request.url?.slice(1) ?? "" }).end("Slow down.");
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void server.close());
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ask = async (url: string, by: typeof fetch = fetch) => (await by(url, { method: "POST", body: "{}" })).text();

test.each(["openai-completions", "one that takes no fetch"])(
	"of many that ask at once, each hears of the responses to its own requests: %s",
	async (api) => {
		const url = await refusing();
		const tap = new SharedTap();
		const leave = [tap.open(), tap.open()];
		const heard = Array.from({ length: 40 }, (): unknown[] => []);
		const asking = heard.map((own, index) =>
			tap.during(
				({ status, headers }) => own.push([status, headers["retry-after"]]),
				{ api },
				async ({ fetch: by }) => {
					await null; // as pi does, which first looks for keys
					return ask(`${url}/${index}`, by);
				},
			),
		);
		await Promise.all([...asking, ask(`${url}/999`)]);
		expect(heard).toEqual(heard.map((_, index) => [[429, String(index)]]));
		for (const each of leave) each();
	},
);

test("when all have left, nothing is observed", async () => {
	const url = await refusing();
	const tap = new SharedTap();
	const heard: unknown[] = [];
	const request = () =>
		tap.during(
			({ status }) => heard.push(status),
			{ api: "one that takes no fetch" },
			() => ask(url),
		);
	const leave = tap.open();
	await request();
	leave();
	await request();
	expect(heard).toEqual([429]);
});

test("a fetch that the request brings is used, and its response handed on", async () => {
	const heard: unknown[] = [];
	const given = async () => new Response("Welcome.", { status: 201 });
	const text = await new SharedTap().during(
		(response) => heard.push(response),
		{ api: "anthropic-messages", fetch: given },
		({ fetch: by }) => ask("https://nowhere.invalid", by),
	);
	expect(text).toBe("Welcome.");
	expect(heard).toEqual([{ status: 201, headers: {} }]);
});

test("in a process of its own, only what was asked at the right moment is heard", async () => {
	const url = await refusing();
	let isAsking = false;
	const heard: unknown[] = [];
	const close = tapResponses(({ method }) =>
		isAsking && method === "POST" ? ({ status }) => heard.push(status) : undefined,
	);
	await ask(`${url}/1`);
	isAsking = true;
	await (await fetch(`${url}/2`)).text();
	expect(heard).toEqual([]);
	await ask(`${url}/3`);
	expect(heard).toEqual([429]);
	close();
	await ask(`${url}/4`);
	expect(heard).toEqual([429]);
});
