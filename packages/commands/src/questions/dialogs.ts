/** A queue for dialogs: pi shows one at a time, and a second one would close the first. */
import type { ExtensionContext, ExtensionUIDialogOptions } from "@earendil-works/pi-coding-agent";

export interface Dialogs {
	/** Runs `show` after all earlier dialogs. `show` must not call `inTurn` itself: that would deadlock. */
	inTurn<Answer>(show: () => Promise<Answer>): Promise<Answer>;
	/** Since when none is open, by the time of day; undefined while one is. */
	closedAt(): number | undefined;
	/** The one that is open takes no more keys, though its promise has not resolved yet. */
	closing(): void;
}

export function createDialogs(): Dialogs {
	let line: Promise<unknown> = Promise.resolve();
	let closedAt: number | undefined = 0;
	const closing = () => {
		closedAt ??= Date.now();
	};
	return {
		inTurn(show) {
			const turn = line.then(async () => {
				closedAt = undefined;
				try {
					return await show();
				} finally {
					closing();
				}
			});
			line = turn.then(
				() => undefined,
				() => undefined, // its caller gets the rejection
			);
			return turn;
		},
		closedAt: () => closedAt,
		closing,
	};
}

/** Like pi's own `confirm`, but with No selected on the screen; how a client asks is up to the client. */
export async function confirmSafely(
	{ mode, ui }: Pick<ExtensionContext, "mode" | "ui">,
	title: string,
	text: string,
	options?: ExtensionUIDialogOptions,
): Promise<boolean> {
	if (mode !== "tui") return ui.confirm(title, text, options);
	return (await ui.select(`${title}\n${text}`, ["No", "Yes"], options)) === "Yes";
}
