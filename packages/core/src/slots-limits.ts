/** How many agents may run at once, and what a caller is told when that many do. */

export interface SlotLimits {
	/** Of all agents together. Here and below, 0 or nothing is no limit. */
	maxConcurrent?: number;
	/** One number for each provider, or numbers by provider. */
	maxPerProvider?: number | Readonly<Record<string, number>>;
	/** One number for each model, or numbers by `provider/id`. */
	maxPerModel?: number | Readonly<Record<string, number>>;
	/** What happens to a request without room. */
	whenFull: "queue" | "refuse";
}

/** A limit and how much of it is in use. */
export interface Occupancy {
	setting: "maxConcurrent" | "maxPerProvider" | "maxPerModel";
	/** The provider or model it is about. */
	name?: string;
	count: number;
	limit: number;
}

/** The limit that holds for this name, infinite if there is none. */
export function limitOf(limit: SlotLimits["maxPerModel"], name: string): number {
	const value = typeof limit === "object" ? ownNumber(limit, name) : limit;
	return value !== undefined && value >= 1 ? Math.floor(value) : Number.POSITIVE_INFINITY;
}

/** What the caller of a refused request is told. */
export function refusalOf({ setting, name, count, limit }: Occupancy): string {
	const agents = count === 1 ? "1 agent is" : `${count} agents are`;
	const where = name === undefined ? "" : ` on ${name}`;
	return `No free slot: ${agents} at work${where}, and ${setting} allows ${limit}. Wait for one to finish, stop one, or raise ${setting} in the settings.`;
}

/** Names come from outside, so one like "constructor" must not find what every object has. */
function ownNumber(limits: Readonly<Record<string, number>>, name: string): number | undefined {
	return Object.hasOwn(limits, name) ? limits[name] : undefined;
}
