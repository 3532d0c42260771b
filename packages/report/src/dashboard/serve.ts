/** The report as a page that is fed live: a server on this machine alone, read only, with a token that only its link holds. */
import { randomBytes } from "node:crypto";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@pi-subagents/core";
import { builtPage, livePage } from "../html/html.ts";
import { Connections } from "./connections.ts";
import { verdictOn } from "./guard.ts";
import { type DashboardClock, Readers, type ReportSource } from "./readers.ts";

export interface DashboardOptions {
	source: ReportSource;
	/** The system's when absent. */
	clock?: DashboardClock;
}

export interface Dashboard {
	/** With the token in the fragment, which browsers do not send: show it to the user, and write it nowhere. */
	link: string;
	/** How many pages are fed now. */
	readers(): number;
	/** Resolves when no connection is left. */
	close(): Promise<void>;
}

const HOST = "127.0.0.1";
const MAX_CONNECTIONS = 128;
const MAX_HEADER_BYTES = 8 * 1024;
/** On this machine, a request is complete at once, and so is the answer to it. */
const REQUEST_MS = 5_000;
/** How often it is looked for connections that are too slow. Node's default of 30 s would be the real limit. */
const LOOK_MS = 1_000;
/** A session that ends waits no longer for a last look at its runs, and for readers to take the last line. */
const LAST_LOOK_MS = 500;
const GOODBYE_MS = 200;

/** No other page gets at it: not in a frame, not as a script or a picture, not through a window that it opened. */
const HEADERS = {
	"cache-control": "no-store",
	"cross-origin-opener-policy": "same-origin",
	"cross-origin-resource-policy": "same-origin",
	"referrer-policy": "no-referrer",
	"x-content-type-options": "nosniff",
	"x-frame-options": "DENY",
};
const TOO_MANY: Refusal = { status: 503, text: "Too many pages are open: close some." };
const NOTHING = "default-src 'none'; frame-ancestors 'none'; sandbox";

/**
 * Does not keep the process alive.
 *
 * @example
 * ```ts
 * const source = { read: async () => buildReport(await runs(), { now: Date.now() }), watch: onRunsChanged };
 * const { link, close } = await serveDashboard({ source });
 * ```
 */
export async function serveDashboard({ source, clock = systemClock }: DashboardOptions): Promise<Dashboard> {
	const page = livePage(await builtPage());
	const token = randomBytes(24).toString("base64url");
	const readers = new Readers(source, clock);
	let authority = "";
	const connections = new Connections(MAX_CONNECTIONS);
	const limits = {
		maxHeaderSize: MAX_HEADER_BYTES,
		headersTimeout: REQUEST_MS,
		requestTimeout: REQUEST_MS,
		keepAliveTimeout: REQUEST_MS,
		connectionsCheckingInterval: LOOK_MS,
	};
	const server = createServer(limits, (request, response) => {
		const verdict = verdictOn(request, { authority, token });
		const isLive = "route" in verdict && verdict.route === "live" && request.method !== "HEAD";
		// Whoever does not take a short answer has gone.
		if (!isLive)
			response.once(
				"close",
				clock.after(REQUEST_MS, () => request.socket.destroy()),
			);
		if (!("route" in verdict)) return refuse(response, verdict);
		if (isLive && !connections.keep(request.socket)) return refuse(response, TOO_MANY);
		if (verdict.route === "page") {
			const length = Buffer.byteLength(page.html);
			const type = { "content-type": "text/html; charset=utf-8", "content-length": length };
			response.writeHead(200, { ...HEADERS, ...type, "content-security-policy": page.policy });
			return void response.end(page.html); // nothing after a HEAD
		}
		const type = { "content-type": "application/x-ndjson", "content-security-policy": NOTHING };
		response.writeHead(200, { ...HEADERS, ...type });
		if (request.method === "HEAD") return void response.end();
		response.flushHeaders();
		readers.add(response);
	});
	server.on("connection", (socket) => {
		socket.unref();
		connections.add(socket);
	});
	server.unref();
	authority = `${HOST}:${await portOf(server)}`;
	const within = (ms: number, work: Promise<void>) =>
		Promise.race([work, new Promise<void>((resolve) => void clock.after(ms, resolve))]);
	return {
		link: `http://${authority}/#${token}`,
		readers: () => readers.size,
		async close() {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			await within(LAST_LOOK_MS, readers.lastLook());
			await within(GOODBYE_MS, readers.end());
			server.closeAllConnections();
			await closed;
		},
	};
}

function refuse(response: ServerResponse, { status, text, headers = {} }: Refusal): void {
	const type = { "content-type": "text/plain; charset=utf-8", "content-security-policy": NOTHING };
	response.writeHead(status, { ...HEADERS, ...headers, ...type, connection: "close" }).end(`${text}\n`);
}

type Refusal = Exclude<ReturnType<typeof verdictOn>, { route: unknown }>;

function portOf(server: Server): Promise<number> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen({ host: HOST, port: 0 }, () => resolve((server.address() as AddressInfo).port));
	});
}
