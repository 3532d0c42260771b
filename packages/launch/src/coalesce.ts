/**
 * Work that many callers may ask for at once. Calls made while it runs share the next run: each caller gets what was true
 * after it asked, and a hundred calls at once cost as much as two.
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
