/**
 * When pi's RPC mode replaces a session, it emits `session_start` twice for the new one. What starts with a session must
 * not start twice: nothing would stop the first timer.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** The same, but each handler hears of each session's beginning once. */
export function dedupeSessionStart(pi: ExtensionAPI): ExtensionAPI {
	let ended = 0;
	pi.on("session_shutdown", () => void ended++);
	const on = (event: string, handler: (...args: unknown[]) => unknown): void => {
		let heardAfter = -1;
		const heardOnce = (...args: unknown[]) => {
			if (heardAfter === ended) return undefined;
			heardAfter = ended;
			return handler(...args);
		};
		(pi.on as typeof on)(event, event === "session_start" ? heardOnce : handler);
	};
	return new Proxy(pi, { get: (target, name) => (name === "on" ? on : Reflect.get(target, name)) });
}
