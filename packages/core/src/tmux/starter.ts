/** Starts a wrapper in a window, and sees there when it ends. */
import { bestEffort, type Report } from "../best-effort.ts";
import { type Clock, steadyClock } from "../clock.ts";
import { codeOf } from "../process/code-of.ts";
import { identityOf, isAlive } from "../process/identity.ts";
import type { ProcessIdentity } from "../process/layout.ts";
import { endGroup } from "../process/signals.ts";
import { type Starter, scriptVariables } from "../process/starter.ts";
import { offerTie, type Tie } from "./tie.ts";
import { openWindow } from "./window.ts";

export interface WindowStarterOptions {
	clock: Clock;
	report: Report;
	onWindow: (hint: string) => void;
}

/** How long the wrapper may take from the opening of its window until it is there. */
const START_MS = 30_000;
const LOOK_MS = 250;

export function windowStarter({ clock, report, onWindow }: WindowStarterOptions): Starter {
	return async ({ command, args, cwd, env, title, signal }) => {
		const tie = await offerTie(env, report);
		try {
			const argv = [...scriptPrefix(command), command, ...args, tie.path];
			const window = await openWindow({ argv, cwd, env, title });
			onWindow(window.hint);
			const wrapper = await identityOf(window.pid);
			await untilTaken(tie, wrapper, clock, signal).catch(async (error) => {
				await bestEffort("closing a window", report, () => window.close());
				await bestEffort("ending what ran in a window", report, () => endGroup(wrapper, clock));
				throw error;
			});
			return {
				ended: tie.ended.then((lastLine) => ({
					how: "its window was closed, or its process was killed",
					...(lastLine === undefined ? {} : { lastLine }),
				})),
				kill: () => killGroup(tie, window.pid),
				letGo: () => tie.close(),
			};
		} catch (error) {
			tie.close();
			throw error;
		}
	};
}

/** These must be there when the program starts, and the rest of the environment comes only after that. */
function scriptPrefix(command: string): string[] {
	const variables = Object.entries(scriptVariables(command)).map(([name, value]) => `${name}=${value}`);
	return variables.length === 0 ? [] : ["env", ...variables];
}

async function untilTaken(tie: Tie, wrapper: ProcessIdentity, given: Clock, signal: AbortSignal): Promise<void> {
	const clock = steadyClock(given);
	for (const deadline = clock.now() + START_MS; ; ) {
		const isAt = await Promise.race([tie.taken, later(LOOK_MS, clock)]);
		if (isAt === "taken") return;
		signal.throwIfAborted();
		if (!(await isAlive(wrapper))) throw new Error("The agent's window was closed before the agent had started.");
		if (clock.now() > deadline) throw new Error(`The agent did not start in its window within ${START_MS / 1_000} s.`);
	}
}

function later(ms: number, clock: Clock): Promise<"later"> {
	return new Promise((resolve) => void clock.after(ms, () => resolve("later")));
}

/** As long as the tie holds, the number belongs to the wrapper, which leads the group of its terminal. */
function killGroup(tie: Tie, pid: number): void {
	if (!tie.isHeld()) return;
	try {
		process.kill(-pid, "SIGKILL");
	} catch (error) {
		if (codeOf(error) !== "ESRCH") throw error; // it went in the meantime
	}
}
