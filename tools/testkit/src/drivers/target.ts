/** Which pi to run, where and with which arguments. The same for all drivers. */
import { type PiBinary, piUnderTest } from "../pi/pi-binary.ts";
import type { PiEnv } from "../pi/pi-env.ts";

export interface PiTarget {
	readonly env: PiEnv;
	/** Default: the pi that the workspace depends on. */
	readonly pi?: PiBinary;
	/** Paths for `-e`, after those of the environment. */
	readonly extensions?: readonly string[];
	/** Further command-line arguments. */
	readonly args?: readonly string[];
	/** For the whole run of print and json mode, and for each wait of the others. Default: as patient as the machine is busy. */
	readonly timeoutMs?: number;
}

/** Program and arguments; `mode` comes first, `last` (such as the prompt) after everything else. */
export function commandOf(
	target: PiTarget,
	parts: { readonly mode?: readonly string[]; readonly last?: readonly string[] },
): [program: string, args: string[]] {
	const [program, ...leading] = (target.pi ?? piUnderTest()).command;
	const extensions = [...target.env.extensions, ...(target.extensions ?? [])].flatMap((path) => ["-e", path]);
	return [program, [...leading, ...(parts.mode ?? []), ...extensions, ...(target.args ?? []), ...(parts.last ?? [])]];
}
