/** Why a program could not be started, with advice where there is any. */
import type { ChildProcess } from "node:child_process";
import { messageOf } from "./best-effort.ts";
import { codeOf } from "./error-code.ts";

const ADVICE: Readonly<Record<string, string>> = {
	EMFILE: "this process has too many files and connections open. Wait until agents have ended, or raise `ulimit -n`",
	ENFILE: "the machine has too many files open. Close programs, or raise its limit",
	EAGAIN: "there are too many processes. Wait until agents have ended, or raise `ulimit -u`",
	ENOMEM: "there is too little memory. Wait until agents have ended, or close programs",
	E2BIG: "its arguments and environment are too long. Make them shorter",
};

/** The reason, without a full stop. */
export function whyNotStarted(error: unknown): string {
	const advice = ADVICE[codeOf(error) ?? ""];
	return advice === undefined ? messageOf(error) : `${messageOf(error)}: ${advice}`;
}

/** Whether only resources were short: starting it later may work. */
export function isShortage(error: unknown): boolean {
	return Object.hasOwn(ADVICE, codeOf(error) ?? "");
}

/**
 * Resolves when the process runs; rejects when it could not be started. Call it before touching the child: without
 * free handles Node creates no pipes and emits an error that ends pi if unhandled.
 */
export function untilSpawned(child: ChildProcess): Promise<void> {
	const spawned = new Promise<void>((resolve, reject) => {
		child.once("spawn", resolve);
		// Stays attached: later errors mean that a signal could not be sent, which must not end pi.
		child.on("error", reject);
	});
	spawned.catch(() => undefined); // the caller may await it later
	return spawned;
}
