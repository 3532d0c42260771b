/** Work that many callers may ask for at once: a hundred calls of one message cost about as much as one. */

/**
 * Remembers each result until the event loop turns. Callers that ask in the same moment get the same answer, without
 * looking at the disk again.
 */
export function oncePerTurn<Args extends readonly unknown[], Result>(
	work: (...args: Args) => Result,
	keyOf: (...args: Args) => string,
): (...args: Args) => Result {
	const known = new Map<string, { result: Result }>();
	return (...args) => {
		const key = keyOf(...args);
		const before = known.get(key);
		if (before) return before.result;
		if (known.size === 0) setImmediate(() => known.clear());
		const result = work(...args);
		known.set(key, { result });
		return result;
	};
}

/**
 * Calls made while it runs share the next run: each caller gets what was true after it asked. One at a time for
 * each key; `keyOf` tells which calls ask for the same.
 */
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
