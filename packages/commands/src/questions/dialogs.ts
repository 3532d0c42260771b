/** A queue for dialogs: pi shows one at a time, and a second one would close the first. */

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
