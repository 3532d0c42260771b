/**
 * A dialog takes the keys at once: a user who is writing a message would answer it with their next Enter. So a dialog
 * that opens by itself waits until they pause, and hears nothing in its first moment.
 */
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import type { Clock } from "@pi-subagents/core";

type Screen = Pick<ExtensionUIContext, "getEditorText" | "onTerminalInput">;

/** Who does not type for this long is reading, or somewhere else. */
const PAUSE_MS = 2_000;
/** Not every input is a key: the agent must not wait for ever. */
const LONGEST_MS = 20_000;
/** Long enough to see the dialog and to stop typing. */
const DEAF_MS = 1_000;

/** Resolves when nothing is being written, or not for the moment. */
export function untilPaused(screen: Screen, { after }: Pick<Clock, "after">, signal?: AbortSignal): Promise<void> {
	if (!isWriting(screen) || signal?.aborted) return Promise.resolve();
	const { promise, resolve } = Promise.withResolvers<void>();
	let cancelPause = after(PAUSE_MS, resolve);
	const unhear = screen.onTerminalInput(() => {
		cancelPause();
		// What the key does to the text is seen only after it has reached the editor.
		cancelPause = after(PAUSE_MS, resolve);
		after(0, () => !isWriting(screen) && resolve());
		return undefined;
	});
	const cancelLongest = after(LONGEST_MS, resolve);
	signal?.addEventListener("abort", () => resolve(), { once: true });
	return promise.finally(() => {
		cancelPause();
		cancelLongest();
		unhear();
	});
}

/** The dialog that opens now hears no key for a moment, or until the returned function is called. */
export function deafen(screen: Screen, { after }: Pick<Clock, "after">): () => void {
	const hear = screen.onTerminalInput(() => ({ consume: true }));
	const cancel = after(DEAF_MS, hear);
	return () => {
		cancel();
		hear();
	};
}

/** Whether there is an unsent message. A client's is not known. */
export function isWriting(screen: Screen | undefined): boolean {
	return (screen?.getEditorText() ?? "").trim() !== "";
}
