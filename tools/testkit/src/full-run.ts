/** What runs where: the gate has one case per promise, a full run every combination. Imports nothing, so that any test may. */

/** `npm run test:full` runs every combination; the gate runs one case per promise. */
export const isFullRun = process.env.TEST_FULL === "1";

/** Of a product of cases, all in a full run; in the gate only those at these places. */
export function gateCases<Case>(cases: readonly Case[], ...places: readonly number[]): Case[] {
	return cases.filter((_case, place) => isFullRun || places.includes(place));
}
