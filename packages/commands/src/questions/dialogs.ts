/** A queue for dialogs: pi shows one at a time, and a second one would close the first. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

export interface Dialogs {
	/** Runs `show` after all earlier dialogs. `show` must not call `inTurn` itself: that would deadlock. */
	inTurn<Answer>(show: () => Promise<Answer>): Promise<Answer>;
}

export function createDialogs(): Dialogs {
	let line: Promise<unknown> = Promise.resolve();
	return {
		inTurn(show) {
			const turn = line.then(show);
			line = turn.then(
				() => undefined,
				() => undefined, // its caller gets the rejection
			);
			return turn;
		},
	};
}

/** Like pi's own `confirm`, but with No selected on the screen; how a client asks is up to the client. */
export async function confirmSafely(
	{ mode, ui }: Pick<ExtensionContext, "mode" | "ui">,
	title: string,
	text: string,
): Promise<boolean> {
	return mode === "tui" ? (await ui.select(`${title}\n${text}`, ["No", "Yes"])) === "Yes" : ui.confirm(title, text);
}
