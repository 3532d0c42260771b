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

const ask = async (url: string) => (await fetch(url, { method: "POST", body: "{}" })).text();

test("of many that ask at once, each hears of the responses to its own requests", async () => {
	const url = await refusing();
	const tap = new SharedTap();
	const leave = [tap.open(), tap.open()];
	const heard = Array.from({ length: 40 }, (): unknown[] => []);
	const asking = heard.map((own, index) =>
		tap.during(
			({ status, headers }) => own.push([status, headers["retry-after"]]),
			async () => {
				await null; // as pi does, which first looks for keys
				return ask(`${url}/${index}`);
			},
		),
	);
	await Promise.all([...asking, ask(`${url}/999`)]);
	expect(heard).toEqual(heard.map((_, index) => [[429, String(index)]]));
	for (const each of leave) each();
	await tap.during(
		() => heard[0]?.push("too late"),
		() => ask(url),
	);
	expect(heard[0]).toHaveLength(1);
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
