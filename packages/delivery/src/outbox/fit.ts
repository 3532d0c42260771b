/** How several results share one message of bounded size. */
import type { Delivery, OutboxSettings, SendItem } from "./types.ts";

/**
 * All in full when they fit. Otherwise each gets a line, and as many as there is room for get their full text; when even
 * the lines are too many, the rest is only counted. Failures come first in line for room; the order stays that of
 * settling. A result that comes alone is always in full: its text is already capped.
 */
export function fit(
	deliveries: readonly Delivery[],
	{ maxBytes, lineBytes }: Pick<OutboxSettings, "maxBytes" | "lineBytes">,
): SendItem[] {
	const total = deliveries.reduce((sum, { bytes }) => sum + bytes, 0);
	if (deliveries.length === 1 || total <= maxBytes) return deliveries.map(({ id }) => ({ id, form: "full" }));
	const lines = Math.floor(maxBytes / lineBytes);
	const forms = new Map<string, SendItem["form"]>();
	let room = maxBytes - deliveries.length * lineBytes;
	let linesLeft = deliveries.length <= lines ? lines : lines - 1; // the last one says how many more there are
	for (const { id, bytes } of deliveries.toSorted((a, b) => Number(b.isFailure) - Number(a.isFailure))) {
		const isFull = bytes - lineBytes <= room;
		if (isFull) room -= bytes - lineBytes;
		forms.set(id, isFull ? "full" : linesLeft > 0 ? "line" : "count");
		linesLeft--;
	}
	return deliveries.map(({ id }) => ({ id, form: forms.get(id) ?? "count" }));
}
