/**
 * A queue for dialogs: pi shows one at a time, and up to pi 1.3 a second one closes the first, whose caller then waits for
 * ever. Dialogs of other extensions in the session wait for ours and ours for them; among themselves they are as pi makes
 * them, because one may open another.
 */
import type {
	ExtensionAPI,
	ExtensionContext,
	ExtensionUIContext,
	ExtensionUIDialogOptions,
} from "@earendil-works/pi-coding-agent";
import { type Clock, systemClock } from "@pi-subagents/core";
import { OtherDialogs, ownUi } from "./other-dialogs.ts";
import { PiLists } from "./pi-lists.ts";
import { deafen, isWriting, untilPaused } from "./typing.ts";

export interface Dialogs {
	/**
	 * Runs `show` after all earlier dialogs. It must not call `inTurn` itself, and must open its dialog with `ownUi`: both
	 * would wait for themselves.
	 */
	inTurn<Answer>(show: () => Promise<Answer>, options?: Unasked): Promise<Answer>;
	/** Since when none is open, by the time of day; undefined while one is. */
	closedAt(): number | undefined;
	/** The one that is open takes no more keys, though its promise has not resolved yet. */
	closing(): void;
	/** From now on dialogs that other extensions open with this object wait for ours, and ours for them. */
	share(ui: ExtensionUIContext): void;
}

/** For a dialog that opens by itself: the user may be doing something else. */
interface Unasked {
	/** The session, whose screen it takes. */
	session: () => Pick<ExtensionContext, "mode" | "ui"> | undefined;
	/** Fires when the dialog is no longer wanted: then it need not wait. */
	signal?: AbortSignal;
	/** Called if it is next, but cannot be shown for a while because of another extension's dialog, or one of pi's lists. */
	onDelay?: () => void;
}

/** A user who is answering another dialog need not be told of the next one. */
const DELAY_MS = 5_000;

export function createDialogs(clock: Clock = systemClock): Dialogs {
	const others = new OtherDialogs((ui) => deafen(ui, clock));
	const lists = new PiLists();
	let line: Promise<unknown> = Promise.resolve();
	let closedAt: number | undefined = 0;
	const closing = () => {
		closedAt ??= Date.now();
	};
	const untilFree = async (unasked: Unasked | undefined): Promise<void> => {
		const { signal, onDelay } = unasked ?? {};
		const isCovered = () => others.isOpen || lists.isOpen(screenOf(unasked));
		const cancel = onDelay && clock.after(DELAY_MS, () => isCovered() && onDelay());
		await others.closed(signal);
		const screen = screenOf(unasked);
		if (screen) await lists.closed(screen, clock, signal);
		cancel?.();
		if (screen) await untilPaused(screen, clock, signal);
	};
	return {
		inTurn(show, unasked) {
			const turn = line.then(async () => {
				const isUnwanted = () => unasked?.signal?.aborted === true;
				if (isWriting(screenOf(unasked))) await untilFree(unasked);
				while ((others.isOpen || lists.isOpen(screenOf(unasked))) && !isUnwanted()) await untilFree(unasked);
				closedAt = undefined;
				const release = others.hold();
				const screen = screenOf(unasked);
				const hear = screen && !isUnwanted() ? deafen(screen, clock) : undefined;
				try {
					return await show();
				} finally {
					hear?.();
					release();
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
		share(ui) {
			lists.isOpen(ui); // it now knows where the editor is
			others.share(ui);
		},
	};
}

/** Only a terminal sends us keys; a client decides itself how it asks. */
function screenOf(unasked: Unasked | undefined): ExtensionUIContext | undefined {
	const session = unasked?.session();
	return session?.mode === "tui" ? session.ui : undefined;
}

/** On a screen. A client of pi's RPC mode tells dialogs apart by their ids, and decides itself what to show. */
export function shareDialogs(pi: Pick<ExtensionAPI, "on">, dialogs: Dialogs): void {
	pi.on("session_start", (_event, { mode, ui }) => {
		if (mode === "tui") dialogs.share(ui);
	});
}

/** Like pi's own `confirm`, but with No selected on the screen; how a client asks is up to the client. */
export async function confirmSafely(
	{ mode, ui: shared }: Pick<ExtensionContext, "mode" | "ui">,
	title: string,
	text: string,
	options?: ExtensionUIDialogOptions,
): Promise<boolean> {
	const ui = ownUi(shared);
	if (mode !== "tui") return ui.confirm(title, text, options);
	return (await ui.select(`${title}\n${text}`, ["No", "Yes"], options)) === "Yes";
}
