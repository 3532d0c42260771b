/** Messages of older versions, whose details say how an agent ended only as a line. Pure. */

/** Why it did not complete; of one that did, what there is to know besides. */
export function endInSummary(status: string, summary: string): { reason: string; note: string } {
	const isGood = status === "completed" && summary.startsWith("Completed");
	if (!isGood) return { reason: summary, note: "" };
	return { reason: "", note: summary.replace(/^Completed(?: in [^,;]*)?[,;]? ?/, "") };
}
