/**
 * Keeps an agent in its own checkout: its file tools are refused elsewhere, and after each command of its shell the
 * checkouts that it must leave alone are looked at. It is no sandbox; it tells an agent that goes astray, and its user.
 */
import { appendFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sanitize } from "@pi-subagents/progress";
import { leadsInto, pathAsPiReadsIt } from "../process/child/path-guard.ts";
import type { Confinement } from "../runner.ts";
import { type CheckoutState, checkoutState, differences, LOOK_MS } from "./checkout-state.ts";
import { flagsFile } from "./flags.ts";
import { type Git, gitWith } from "./git.ts";

export interface Guard {
	/** Before a tool runs. Says why it must not, as a sentence for the model. */
	before(call: ToolCall): Promise<string | undefined>;
	/** After it ran. Says what it did that it must not, as a sentence for the model. */
	after(call: Pick<ToolCall, "id" | "tool">): Promise<string | undefined>;
}

export interface ToolCall {
	id: string;
	tool: string;
	input: unknown;
	cwd: string;
}

/** The tools of pi that run commands. */
const SHELLS: ReadonlySet<string> = new Set(["bash", "powershell"]);

/** More names would bury the message. */
const MOST_NAMED = 10;

/** `alsoWritable` are directories beside the checkout, for example for notes. */
export function createGuard(
	{ root, watches }: Pick<Confinement, "root" | "watches">,
	{ alsoWritable = [], git = gitWith() }: { alsoWritable?: readonly string[]; git?: Git } = {},
): Guard {
	const running = new Map<string, { command: string; states: (CheckoutState | undefined)[] }>();
	const flag = (text: string) => appendFile(flagsFile(root), `${text}\n`, { mode: 0o600 });
	/** One look that takes too long is enough: all commands of the agent wait for it. */
	const unwatched = new Set<string>();
	const lookAt = async (path: string): Promise<CheckoutState | undefined> => {
		if (unwatched.has(path)) return undefined;
		const state = await checkoutState(path, dirname(root), git);
		if (!state && !unwatched.has(path)) {
			unwatched.add(path);
			await flag(
				`${path} could not be looked at within ${LOOK_MS / 1_000} s. Whether a command changed it is not known.`,
			);
		}
		return state;
	};
	const look = () => Promise.all(watches.map(lookAt));
	return {
		async before({ id, tool, input, cwd }) {
			const { path, command }: { path?: unknown; command?: unknown } = Object(input);
			if (SHELLS.has(tool))
				running.set(id, { command: typeof command === "string" ? command : "", states: await look() });
			if ((tool !== "edit" && tool !== "write") || typeof path !== "string") return undefined;
			const wanted = pathAsPiReadsIt(path, cwd);
			const isOwn = leadsInto(root, wanted) && !leadsInto(join(root, ".git"), wanted);
			if (isOwn || alsoWritable.some((dir) => leadsInto(dir, wanted))) return undefined;
			const places = [root, ...alsoWritable].join(" or ");
			return `${path} is outside of your own checkout. Write only below ${places}.`;
		},
		async after({ id, tool }) {
			const began = SHELLS.has(tool) ? running.get(id) : undefined;
			if (!began) return undefined;
			running.delete(id);
			const now = await look();
			const changed = watches.flatMap((path, index) => {
				const [before, after] = [began.states[index], now[index]];
				const names = before && after ? differences(before, after) : [];
				return names.length === 0 ? [] : [`${path} (${listed(names)})`];
			});
			if (changed.length === 0) return undefined;
			const where = changed.join(", ");
			await flag(flagText(began.command, where));
			return `While this command ran, another checkout changed: ${where}. If the command did it, undo it there, and work only in ${root}.`;
		},
	};
}

function flagText(command: string, where: string): string {
	return `While a command of it ran (${sanitize(command).slice(0, 120)}), another checkout changed: ${where}.`;
}

function listed(names: readonly string[]): string {
	const shown = names.slice(0, MOST_NAMED).map(sanitize).join(", ");
	return names.length > MOST_NAMED ? `${shown} and ${names.length - MOST_NAMED} more` : shown;
}
