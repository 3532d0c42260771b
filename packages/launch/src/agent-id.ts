/** The ids of agents: short enough to type, safe in file names and branches, and in `id-2` for a later run. */
import { customAlphabet } from "nanoid";

/** Lower-case letters and digits without look-alikes (0 o, 1 l i), and no `-_.`, which separate an id from what follows. */
const create = customAlphabet("23456789abcdefghjkmnpqrstuvwxyz", 8);

/**
 * A new agent id, for the manager's `newId`. Earlier versions used eight hexadecimal digits, so code that reads ids must
 * not depend on the alphabet.
 *
 * @example
 * ```ts
 * const manager = new Manager({ runners, clock: systemClock, newId: newAgentId });
 * ```
 */
export function newAgentId(): string {
	return create();
}
