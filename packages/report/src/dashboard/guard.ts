/**
 * Which requests the dashboard answers. Pure. Other pages in the same browser can send requests to this machine, and a
 * name that they control can be made to point at it: so every request must be for our address, from our own page or
 * from no page, and what shows data needs the token.
 */
import { createHash, timingSafeEqual } from "node:crypto";

export interface Asked {
	method?: string | undefined;
	url?: string | undefined;
	headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Guarded {
	/** `127.0.0.1` with the port: the only `Host` that is answered. */
	authority: string;
	token: string;
}

export type Verdict = { route: "page" | "live" } | { status: number; text: string; headers?: Record<string, string> };

/** The page has no data and so needs no token, which browsers do not send from a fragment. */
const ROUTES: Readonly<Record<string, "page" | "live">> = { "/": "page", "/live": "live" };

export function verdictOn({ method, url = "", headers }: Asked, { authority, token }: Guarded): Verdict {
	if (headers.host !== authority) return refused(403, "This is not the dashboard's address.");
	if (headers.origin !== undefined && headers.origin !== `http://${authority}`)
		return refused(403, "Requests from other pages are refused.");
	const site = headers["sec-fetch-site"];
	if (site !== undefined && site !== "same-origin" && site !== "none")
		return refused(403, "Links from other pages are refused: open the link itself.");
	if (method !== "GET" && method !== "HEAD")
		return { ...refused(405, "The dashboard is read only."), headers: { allow: "GET, HEAD" } };
	// Without a query: what is in one ends up in histories and logs, so a token in it must not work.
	const route = Object.hasOwn(ROUTES, url) ? ROUTES[url] : undefined;
	if (!route) return refused(404, "There is nothing here.");
	if (route === "live" && !isSame(headers.authorization, `Bearer ${token}`))
		return refused(401, "This needs the token of the link that pi showed.");
	return { route };
}

function refused(status: number, text: string): { status: number; text: string } {
	return { status, text };
}

/** Takes equally long wherever they differ. */
function isSame(given: string | string[] | undefined, wanted: string): boolean {
	if (typeof given !== "string") return false;
	const [a, b] = [given, wanted].map((text) => createHash("sha256").update(text).digest());
	return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
