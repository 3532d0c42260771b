export function answerTo(
	name: string,
	message: { id?: unknown; method?: unknown; params?: unknown },
): object | undefined;
