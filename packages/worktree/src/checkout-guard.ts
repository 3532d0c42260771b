/**
 * Keeps an agent in its own checkout: its file tools are refused elsewhere, and after each shell command the
 * checkouts it must not touch are compared. Not a sandbox; it warns an agent that goes astray, and its user.
 */

import type { Confinement } from "@pi-subagents/core";
import { appendLines, gitRefusal, leadsInto, pathAsPiReadsIt } from "@pi-subagents/core/internal/files";
import { sanitize } from "@pi-subagents/progress";
import { type CheckoutState, checkoutState, differences, flagsFile, LOOK_MS, recordsOf } from "./checkout-state.ts";
import { type Git, gitWith } from "./git.ts";

export interface FileGuard {
	/** Before a tool runs. Returns why it must not, as a sentence for the model. */
	before(call: ToolCall): Promise<string | undefined>;
	/** After it ran. Returns what it did wrong, as a sentence for the model. */
	after(call: Pick<ToolCall, "id" | "tool">): Promise<string | undefined>;
}

export interface ToolCall {
	id: string;
	tool: string;
	input: unknown;
	cwd: string;
}

/** pi's tools that run commands. */
const SHELLS: ReadonlySet<string> = new Set(["bash", "powershell"]);

/** More names would bury the message. */
const MAX_NAMED = 10;

/** `alsoWritable`: directories besides the checkout, for example for notes. */
export function createCheckoutGuard(
	checkout: Omit<Confinement, "origin">,
	{ alsoWritable = [], git = gitWith() }: { alsoWritable?: readonly string[]; git?: Git } = {},
): FileGuard {
	const { root, watches } = checkout;
	const running = new Map<string, { command: string; states: (CheckoutState | undefined)[] }>();
	const flag = (text: string) => appendLines(flagsFile(checkout), `${text}\n`, { durable: false });
	/** One timeout is enough: all commands of the agent wait for this. */
	const unwatched = new Set<string>();
	const lookAt = async (path: string): Promise<CheckoutState | undefined> => {
		if (unwatched.has(path)) return undefined;
		const state = await checkoutState(path, recordsOf(checkout), git);
		if (!state && !unwatched.has(path)) {
			unwatched.add(path);
			await flag(
				`${path} could not be checked within ${LOOK_MS / 1_000} s. It is unknown whether a command changed it.`,
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
			if ([root, ...alsoWritable].some((dir) => leadsInto(dir, wanted))) return gitRefusal({ tool, input, cwd });
			const dirs = [root, ...alsoWritable].join(" or ");
			return `${path} is outside your checkout. Write only below ${dirs}.`;
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
	return `While one of its commands ran (${sanitize(command).slice(0, 120)}), another checkout changed: ${where}.`;
}

function listed(names: readonly string[]): string {
	const shown = names.slice(0, MAX_NAMED).map(sanitize).join(", ");
	return names.length > MAX_NAMED ? `${shown} and ${names.length - MAX_NAMED} more` : shown;
}
