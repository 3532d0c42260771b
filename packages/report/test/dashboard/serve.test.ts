import { get, request } from "node:http";
import { connect, type Socket } from "node:net";
import { handClock } from "@pi-subagents/core/testing";
import { patienceMs, slowdown } from "@pi-subagents-dev/testkit/wait";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Update } from "../../src/dashboard/changes.ts";
import { type ReportSource, serveDashboard } from "../../src/dashboard/index.ts";
import { buildReport } from "../../src/index.ts";
import { family, launched } from "../fixtures/runs.ts";

/** A source that tests change by hand. */
function changingSource() {
	let runs = family();
	let reads = 0;
	let failure: Error | undefined;
	const listeners = new Set<() => void>();
	const source: ReportSource = {
		async read() {
			reads++;
			if (failure) throw failure;
			return buildReport(runs, { now: 99_999 });
		},
		watch(onChange) {
			listeners.add(onChange);
			return () => listeners.delete(onChange);
		},
	};
	return {
		source,
		reads: () => reads,
		watchers: () => listeners.size,
		change(next: typeof runs | Error) {
			if (next instanceof Error) failure = next;
			else [runs, failure] = [next, undefined];
			for (const listener of listeners) listener();
		},
		/** Reading works again, and nobody is told. */
		recover() {
			failure = undefined;
		},
	};
}

async function opened(clock = handClock()) {
	const its = changingSource();
	const dashboard = await serveDashboard({ source: its.source, clock });
	let isOpen = true;
	const close = async () => {
		isOpen = false;
		let isClosed = false;
		void dashboard.close().then(() => {
			isClosed = true;
		});
		const look = () => {
			clock.advance(100);
			return isClosed;
		};
		await expect.poll(look, { interval: 5 }).toBe(true);
	};
	onTestFinished(async () => {
		if (isOpen) await close();
	});
	const [base = "", token = ""] = dashboard.link.split("/#");
	const live = async (signal?: AbortSignal) => {
		const init = signal ? { signal } : {};
		const response = await fetch(`${base}/live`, { headers: { authorization: `Bearer ${token}` }, ...init });
		return linesOf(response);
	};
	return { ...its, dashboard, clock, base, token, live, close };
}

async function* linesOf(response: Response): AsyncGenerator<Update, undefined> {
	let text = "";
	for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
		text += piece;
		for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
			yield JSON.parse(text.slice(0, end));
			text = text.slice(end + 1);
		}
	}
}

const agentsIn = ({ value }: IteratorResult<Update, undefined>) =>
	value?.type === "report" ? value.report.agents.map(({ id }) => id) : value?.type;

test("the page is served without data, and nothing may frame it", async () => {
	const { base, token } = await opened();
	const response = await fetch(`${base}/`);
	const html = await response.text();
	expect(html).toContain('<div id="app">');
	expect(html).not.toContain("Look around.");
	expect(html).not.toContain(token);
	expect(Object.fromEntries(response.headers)).toMatchObject({
		"content-security-policy": expect.stringMatching(
			/^default-src 'none'; .*connect-src 'self'; frame-ancestors 'none'$/,
		),
		"x-frame-options": "DENY",
		"cache-control": "no-store",
		"referrer-policy": "no-referrer",
		"x-content-type-options": "nosniff",
		"cross-origin-resource-policy": "same-origin",
	});
	const head = await fetch(`${base}/`, { method: "HEAD" });
	expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([
		200,
		String(Buffer.byteLength(html)),
		"",
	]);
});

test("the real server refuses what it must, even with the right token", async () => {
	const { base, token, dashboard } = await opened();
	const port = Number(new URL(base).port);
	const ask = (path: string, options: { method?: string; headers?: Record<string, string> } = {}) =>
		new Promise<number | undefined>((resolve, reject) => {
			const headers = { authorization: `Bearer ${token}`, ...options.headers };
			const sent = request({ host: "127.0.0.1", port, path, method: options.method ?? "GET", headers }, (response) => {
				response.resume().once("close", () => resolve(response.statusCode));
			});
			sent.once("error", reject).end();
		});
	expect(await ask("/live", { headers: { authorization: "Bearer wrong" } })).toBe(401);
	expect(await ask("/live", { headers: { authorization: "" } })).toBe(401);
	expect(await ask("/live", { headers: { host: `evil.example:${port}` } })).toBe(403);
	expect(await ask("/", { headers: { host: `evil.example:${port}` } })).toBe(403);
	expect(await ask("/live", { headers: { origin: "https://evil.example" } })).toBe(403);
	expect(await ask("/live", { headers: { "sec-fetch-site": "cross-site" } })).toBe(403);
	for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) expect(await ask("/live", { method })).toBe(405);
	expect(await ask(`/live?token=${token}`)).toBe(404);
	expect(await ask(`/${"x".repeat(20_000)}`)).toBe(431);
	expect(await ask("/live", { method: "HEAD" })).toBe(200);
	expect(dashboard.readers()).toBe(0);
});

test("a reader gets everything, then what changes, and the end when it ends", async () => {
	const { live, change, clock, close, dashboard, reads, watchers } = await opened();
	expect([reads(), watchers()]).toEqual([0, 0]); // costs nothing while nobody looks
	const lines = await live();
	expect(agentsIn(await lines.next())).toEqual(["boss", "scout"]);
	const late = launched("late");
	change([...family(), late]);
	change([...family(), late]);
	clock.advance(250);
	expect(agentsIn(await lines.next())).toEqual(["late"]);
	expect([reads(), watchers(), dashboard.readers()]).toEqual([2, 1, 1]); // both changes in one look
	clock.advance(250);
	change(new Error("The disk is gone."));
	expect((await lines.next()).value).toEqual({ type: "problem", text: "The disk is gone." });
	change(family());
	clock.advance(2_000);
	expect(agentsIn(await lines.next())).toEqual([]); // one fewer
	await close();
	expect((await lines.next()).value).toEqual({ type: "end" });
	expect((await lines.next()).done).toBe(true);
});

test("a report that could not be read is read again, and readers hear that it could, though nothing changed", async () => {
	const { live, change, clock, recover } = await opened();
	const lines = await live();
	expect(agentsIn(await lines.next())).toEqual(["boss", "scout"]);
	clock.advance(250);
	change(new Error("The disk is gone."));
	expect((await lines.next()).value).toEqual({ type: "problem", text: "The disk is gone." });
	recover();
	clock.advance(2_000);
	expect(agentsIn(await lines.next())).toEqual([]);
});

test("a new reader, also one that comes again, gets everything at once; the last to leave ends the watching", async () => {
	const { live, watchers, dashboard, reads } = await opened();
	const leaving = new AbortController();
	const first = await live(leaving.signal);
	expect(agentsIn(await first.next())).toEqual(["boss", "scout"]);
	const others = await Promise.all(Array.from({ length: 20 }, () => live()));
	for (const other of others) expect(agentsIn(await other.next())).toEqual(["boss", "scout"]);
	expect(reads()).toBe(1); // one look serves all
	leaving.abort();
	await expect.poll(() => dashboard.readers()).toBe(20);
	for (const other of others) await other.return(undefined);
	await expect.poll(() => [dashboard.readers(), watchers()]).toEqual([0, 0]);
});

test("a slow reader skips what is outdated, and one that takes nothing is gone after a while", async () => {
	const { base, token, change, clock, dashboard, reads } = await opened();
	const { hostname, port, host } = new URL(base);
	const stuck = () => {
		const socket = connect({ host: hostname, port: Number(port) }).pause();
		socket.on("error", () => undefined); // the server cuts it off
		socket.write(`GET /live HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
		return socket;
	};
	const [slow, gone] = [stuck(), stuck()];
	await expect.poll(() => [dashboard.readers(), reads()]).toEqual([2, 1]);
	const rounds = 16;
	for (let round = 1; round <= rounds; round++) {
		change([launched("a1", { agent: { task: `round ${round} ${"x".repeat(1_000_000)}` } })]);
		const look = () => {
			clock.advance(20);
			return reads();
		};
		await expect.poll(look, { interval: 1 }).toBe(round + 1);
	}
	let received = "";
	slow.resume().on("data", (piece) => {
		received += piece;
	});
	const seen = () => [...received.matchAll(/"task":"round (\d+) /g)].map(([, round]) => Number(round));
	await expect.poll(() => seen().at(-1)).toBe(rounds);
	expect(seen().length).toBeLessThan(rounds / 2); // the sockets hold some, the server one
	clock.advance(30_000);
	await expect.poll(() => dashboard.readers()).toBe(1);
	slow.destroy();
	gone.destroy();
});

test("closing leaves no connection, not even of those who keep one open, and the port is free", async () => {
	const { base, close, live } = await opened(handClock());
	const lines = await live();
	await lines.next();
	const { hostname, port } = new URL(base);
	const idle = connect({ host: hostname, port: Number(port) });
	const ended = new Promise((resolve) => idle.once("close", resolve));
	idle.on("error", () => undefined);
	await new Promise((resolve) => idle.once("connect", resolve));
	await close();
	await ended;
	const refusal = new Promise((resolve) => get(base).once("error", ({ code }: NodeJS.ErrnoException) => resolve(code)));
	expect(await refusal).toBe("ECONNREFUSED");
});

describe("connections of others, as many as they like", () => {
	const OTHERS = 300;

	/** Resolves when the server has them, as far as the system lets that be seen. */
	async function occupy(base: string, says: string): Promise<Socket[]> {
		const { hostname, port } = new URL(base);
		const sockets = Array.from({ length: OTHERS }, () => connect({ host: hostname, port: Number(port) }));
		for (const socket of sockets) socket.on("error", () => undefined).pause();
		onTestFinished(() => {
			for (const socket of sockets) socket.destroy();
		});
		await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
		for (const socket of sockets) socket.write(says);
		return sockets;
	}

	test.each([
		["that say nothing", ""],
		["that never end their request", "GET / HTTP/1.1\r\nHost: "],
		["that ask for the page and do not read it", "GET / HTTP/1.1\r\nHost: $HOST\r\n\r\n"],
		["that ask for the page again and again", "GET / HTTP/1.1\r\nHost: $HOST\r\n\r\n".repeat(20)],
	])("%s do not keep the user out, and close no page that is open", async (_what, says) => {
		const { base, live, dashboard, close } = await opened(handClock());
		const lines = await live();
		await lines.next();
		await occupy(base, says.replaceAll("$HOST", new URL(base).host));
		const before = performance.now();
		const page = await fetch(base, { signal: AbortSignal.timeout(patienceMs()) });
		expect(page.status).toBe(200);
		await page.text();
		const another = await live(AbortSignal.timeout(patienceMs()));
		expect((await another.next()).value).toMatchObject({ type: "report" });
		expect(performance.now() - before, "without waiting for a time limit").toBeLessThan(5_000 * slowdown());
		expect(dashboard.readers()).toBe(2);
		await close();
	});

	test("that do not take their answer are gone after a while", async () => {
		const { base, clock } = await opened(handClock());
		const { hostname, port, host } = new URL(base);
		const socket = connect({ host: hostname, port: Number(port) });
		socket.on("error", () => undefined).pause();
		socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(100)); // more than the system keeps for it
		const isGone = () => {
			clock.advance(500);
			socket.write("\r\n"); // fails once the other end is closed
			return socket.destroyed;
		};
		await expect.poll(isGone).toBe(true);
	});
});

test("tokens and ports are never the same", async () => {
	const { source } = changingSource();
	const all = await Promise.all([1, 2, 3].map(() => serveDashboard({ source })));
	const links = all.map(({ link }) => link);
	for (const link of links) expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{32}$/);
	expect(new Set(links.map((link) => link.split("#")[1])).size).toBe(3);
	await Promise.all(all.map((each) => each.close()));
});
