/**
 * A dialog takes the keys at once: a user who is writing a message, or walks through a menu, would answer it with their
 * next Enter. So a dialog that opens by itself waits until a message is sent or its writer pauses, and hears no key
 * before the user has paused for a second with the dialog on the screen.
 */
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import type { Clock } from "@pi-subagents/core";

type Screen = Pick<ExtensionUIContext, "getEditorText" | "onTerminalInput">;
type DialogScreen = Pick<ExtensionUIContext, "onTerminalInput" | "setStatus" | "theme">;

/** Who does not type for this long is reading, or somewhere else. */
const PAUSE_MS = 2_000;
/** Not every input is a key: the agent must not wait for ever. */
const LONGEST_MS = 20_000;
/** Long enough to see the dialog and to stop typing; keys of someone who types are closer together. */
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

/**
 * The dialog that opens now hears no key until none has come for a moment, or until the returned function is called.
 * What is not a key, such as an answer of the terminal, still reaches pi.
 */
export function deafen(screen: DialogScreen, { after }: Pick<Clock, "after">): () => void {
	const hear = () => {
		cancel();
		unhear();
		screen.setStatus(STATUS, undefined);
	};
	/** On a busy machine keys may wait to be read when the time is up: they are read before the second timer. */
	const whenPaused = () =>
		after(DEAF_MS, () => {
			cancel = after(0, hear);
		});
	let cancel = whenPaused();
	const unhear = screen.onTerminalInput((data) => {
		if (NO_KEY.test(data)) return undefined;
		cancel();
		cancel = whenPaused();
		return { consume: true };
	});
	screen.setStatus(STATUS, screen.theme.fg("dim", DEAF_TEXT));
	return hear;
}

/** In pi's footer, right below the dialog. By its name it comes before the count of agents, so that pi cuts that instead. */
const STATUS = "pi-subagents-dialog";
const DEAF_TEXT = "dialog ignores keys until you pause for a second";
/** The mouse, the focus of the window, and answers of the terminal. Everything else could answer a dialog. */
const NO_KEY = /^\u001b(?:\[<|\[M|\[[IO]$|\[\?|[\]P_].|\[\d+(?:;\d+)*[Rt]$)/;

/** Whether there is an unsent message. A client's is not known. */
export function isWriting(screen: Screen | undefined): boolean {
	return (screen?.getEditorText() ?? "").trim() !== "";
}
