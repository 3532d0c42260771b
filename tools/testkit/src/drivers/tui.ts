/** Interactive pi in a terminal. It ends with its environment. */
import { basename } from "node:path";
import { commandOf, type PiTarget } from "./target.ts";
import { startTerminal, type Terminal } from "./terminal.ts";

export interface TuiOptions {
	/** Default 100. */
	readonly cols?: number;
	/** Default 30. */
	readonly rows?: number;
	/**
	 * What to wait for on the screen, for a pi that asks something before it is ready. Default: pi has set the title
	 * of the terminal and drawn something. A screen alone is not enough: pi draws it before it takes input.
	 */
	readonly ready?: string | RegExp;
}

/** Resolves when pi is ready for input. */
export async function startTui(target: PiTarget, options: TuiOptions = {}): Promise<Terminal> {
	const { ready, ...size } = options;
	const { cwd, variables } = target.env;
	const [program, args] = commandOf(target, {});
	const terminal = startTerminal([program, ...args], { ...size, cwd, variables, timeoutMs: target.timeoutMs });
	target.env.onCleanup(terminal.close);
	if (ready === undefined) await terminal.waitFor(isReady(target, terminal), {}, "A pi that is ready");
	else await terminal.waitForText(ready);
	return terminal;
}

/** pi's own title ends with the project; one that an extension sets meanwhile does not count. */
function isReady(target: PiTarget, terminal: Terminal): (lines: string[]) => boolean {
	const ending = ` - ${basename(target.env.cwd)}`;
	return (lines) => terminal.titles.some((title) => title.endsWith(ending)) && lines.some(Boolean);
}
