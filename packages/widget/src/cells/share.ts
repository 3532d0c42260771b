/**
 * Who gets how many columns of a line. Cells that may be dropped go while the others would become too short to read; then
 * those that may be shortened share what is left. Pure numbers: for the cells of one line, or the columns of a table.
 */
export interface Want {
	/** What all of its text needs; `Infinity` takes everything that the others leave, and needs a `min`. */
	readonly columns: number;
	/** Columns between it and what stands before it. */
	readonly gap: number;
	/** Maximum columns. */
	readonly max?: number | undefined;
	/** It may be shortened; before it gets shorter than this, others are dropped. */
	readonly min?: number | undefined;
	/** It may be dropped; the highest number goes first. */
	readonly dropOrder?: number | undefined;
}

/** Less of a text says nothing: where there is not even room for this, a text that may be shortened is left out. */
const SHORTEST = 6;

/** The columns of each, in the order given; 0 if it is left out. With their gaps they are never more than `width`. */
export function share(wants: readonly Want[], width: number): number[] {
	const claims = wants.map(claimOf);
	const kept = claims.filter(({ full }) => full > 0);
	while (leastOf(kept) > width && dropOne(kept));
	if (leastOf(kept) > width) squeeze(kept, width);
	giveFairly(kept, width - leastOf(kept));
	cutAtEdge(kept, width);
	return claims.map(({ given }) => given);
}

interface Claim {
	readonly full: number;
	readonly gap: number;
	readonly canShrink: boolean;
	readonly dropOrder: number | undefined;
	/** It gets this before anyone gets more. */
	least: number;
	given: number;
}

function claimOf({ columns, gap, max = columns, min, dropOrder }: Want): Claim {
	const full = Math.min(columns, max);
	return { full, gap, canShrink: min !== undefined, dropOrder, least: Math.min(full, min ?? full), given: 0 };
}

function leastOf(claims: readonly Claim[]): number {
	return claims.reduce((sum, { gap, least }, at) => sum + (at === 0 ? 0 : gap) + least, 0);
}

/** False when none may be dropped. */
function dropOne(claims: Claim[]): boolean {
	let at = -1;
	for (const [index, { dropOrder }] of claims.entries()) {
		if (dropOrder !== undefined && dropOrder >= (claims[at]?.dropOrder ?? 0)) at = index;
	}
	if (at >= 0) claims.splice(at, 1);
	return at >= 0;
}

/** Nothing is left to drop, so texts get shorter than they should, and where that is too short to read they go as well. */
function squeeze(claims: Claim[], width: number): void {
	const floor = ({ canShrink, least }: Claim) => (canShrink ? Math.min(least, SHORTEST) : least);
	const spare = (claim: Claim) => claim.least - floor(claim);
	const excess = () => leastOf(claims) - width;
	while (excess() > claims.reduce((sum, claim) => sum + spare(claim), 0)) {
		const last = claims.findLastIndex(({ canShrink }, at) => canShrink && at > 0); // never the beginning of the line
		if (last < 0) break;
		claims.splice(last, 1);
	}
	const yielding = claims.filter((claim) => spare(claim) > 0).sort((one, other) => spare(one) - spare(other));
	for (const [at, claim] of yielding.entries())
		claim.least -= Math.max(0, Math.min(spare(claim), Math.ceil(excess() / (yielding.length - at))));
}

/** Every claim gets its least; the remaining columns are shared by those that want more. */
function giveFairly(claims: readonly Claim[], remaining: number): void {
	let room = Math.max(0, remaining);
	for (const claim of claims) claim.given = claim.least;
	const wanting = claims
		.filter(({ full, least }) => full > least)
		.sort((one, other) => one.full - one.least - (other.full - other.least));
	for (const [at, claim] of wanting.entries()) {
		const more = Math.min(claim.full - claim.least, Math.floor(room / (wanting.length - at)));
		claim.given += more;
		room -= more;
	}
}

/** What cannot be shortened is cut where the line ends. */
function cutAtEdge(claims: readonly Claim[], width: number): void {
	let taken = 0;
	for (const claim of claims) {
		const gap = taken === 0 ? 0 : claim.gap;
		claim.given = Math.max(0, Math.min(claim.given, width - taken - gap));
		if (claim.given > 0) taken += gap + claim.given;
	}
}
