/** pi shows one dialog at a time, and a second one would close the first: whoever wants one waits for its turn. */

export interface Dialogs {
	/** Runs `show` when all that asked before are done. It must not ask for a turn itself: that one would never come. */
	inTurn<Answer>(show: () => Promise<Answer>): Promise<Answer>;
}

export function createDialogs(): Dialogs {
	let line: Promise<unknown> = Promise.resolve();
	return {
		inTurn(show) {
			const turn = line.then(show);
			line = turn.then(
				() => undefined,
				() => undefined, // its own caller hears of it
			);
			return turn;
		},
	};
}
