/**
 * Which dialogs of extensions the child's pi still waits for. pi does not say that an extension has withdrawn one, so a
 * dialog is over when the tool calls that ran when it opened have ended, and at the latest when pi has settled. Knows no
 * process.
 */
import { MAX_OPEN_DIALOGS } from "@pi-subagents/core/internal/run";

interface Open {
	/** The calls that ran when it opened and have not ended. Empty if none did. */
	calls: Set<string>;
	over: AbortController;
}

export class OpenDialogs {
	readonly #running = new Set<string>();
	readonly #open = new Set<Open>();

	/** The signal fires when the dialog is over. Undefined if too many are open. */
	begin(): { signal: AbortSignal; end: () => void } | undefined {
		if (this.#open.size >= MAX_OPEN_DIALOGS) return undefined;
		const open: Open = { calls: new Set(this.#running), over: new AbortController() };
		this.#open.add(open);
		return { signal: open.over.signal, end: () => void this.#open.delete(open) };
	}

	/** An event of pi's session, as it came. */
	hear({ type, toolCallId }: Record<string, unknown>): void {
		if (type === "agent_settled") this.close();
		if (typeof toolCallId !== "string") return;
		if (type === "tool_execution_start") this.#running.add(toolCallId);
		if (type !== "tool_execution_end") return;
		this.#running.delete(toolCallId);
		for (const { calls, over } of this.#open) if (calls.delete(toolCallId) && calls.size === 0) over.abort();
	}

	close(): void {
		this.#running.clear();
		for (const { over } of this.#open) over.abort();
	}
}
