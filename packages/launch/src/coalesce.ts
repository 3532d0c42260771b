/**
 * Work that many may ask for at once. Whoever asks while it is being done shares the next time with all others who do:
 * each gets what was true after it asked, and a hundred who ask together cost as much as two.
 */

/** One at a time for each key; `keyOf` tells which calls ask for the same. */
export function coalesce<Args extends readonly unknown[], Result>(
	work: (...args: Args) => Promise<Result>,
	keyOf: (...args: Args) => string = () => "",
): (...args: Args) => Promise<Result> {
	const current = new Map<string, Promise<Result>>();
	const next = new Map<string, Promise<Result>>();
	const start = (key: string, args: Args): Promise<Result> => {
		const done = work(...args).finally(() => {
			if (!next.has(key)) current.delete(key);
		});
		current.set(key, done);
		return done;
	};
	return (...args) => {
		const key = keyOf(...args);
		const before = current.get(key);
		if (!before) return start(key, args);
		const shared =
			next.get(key) ??
			before
				.catch(() => undefined)
				.then(() => {
					next.delete(key);
					return start(key, args);
				});
		next.set(key, shared);
		return shared;
	};
}
