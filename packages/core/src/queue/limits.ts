/** How many agents may run at once, and the error when that many do. */

export interface SlotLimits {
	/** For all agents together. Here and below, 0 or absent is no limit. */
	maxConcurrent?: number;
	/** One number for every provider, or numbers by provider. */
	maxPerProvider?: number | Readonly<Record<string, number>>;
	/** One number for every model, or numbers by `provider/id`. */
	maxPerModel?: number | Readonly<Record<string, number>>;
	/** What happens when there is no room. */
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

/** The limit for this name; infinite if there is none. */
export function limitOf(limit: SlotLimits["maxPerModel"], name: string): number {
	const value = typeof limit === "object" ? ownNumber(limit, name) : limit;
	return value !== undefined && value >= 1 ? Math.floor(value) : Number.POSITIVE_INFINITY;
}

/** The error for the caller of a refused request. */
export function refusalOf({ setting, name, count, limit }: Occupancy): string {
	const agents = count === 1 ? "1 agent is" : `${count} agents are`;
	const where = name === undefined ? "" : ` on ${name}`;
	return `No free slot: ${agents} running${where}, and ${setting} allows ${limit}. Wait for one to finish, stop one, or raise ${setting} in the settings.`;
}

/** Names are user input: "constructor" must not find an inherited property. */
function ownNumber(limits: Readonly<Record<string, number>>, name: string): number | undefined {
	return Object.hasOwn(limits, name) ? limits[name] : undefined;
}
