import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { expect, test } from "vitest";
import { followArrivals } from "../../src/session/arrivals.ts";

function follow() {
	const handlers = new Map<string, (event: unknown) => void>();
	const on = (type: string, handler: (event: unknown) => void) => void handlers.set(type, handler);
	const entries: { type: string; customType: string }[] = [];
	const open = { sessionManager: { getEntries: () => entries } } as unknown as ExtensionContext;
	const it = { session: open as ExtensionContext | undefined, entries, seen: [] as string[] };
	const arrivals = followArrivals({ on } as unknown as ExtensionAPI, { session: () => it.session });
	arrivals.onArrived("told", () => void it.seen.push("arrived"));
	arrivals.onLost((times) => void it.seen.push(`lost ${times}`));
	const emit = (type: string, event = {}) => handlers.get(type)?.(event);
	return { it, report: () => emit("message_end", { message: { role: "custom", customType: "told" } }), emit };
}

test("a message is looked for when pi reports the next thing", () => {
	const { it, report, emit } = follow();
	report();
	emit("message_start");
	expect(it.seen).toEqual(["lost 1"]);
	report();
	it.entries.push({ type: "custom_message", customType: "told" });
	emit("agent_settled");
	expect(it.seen).toEqual(["lost 1", "arrived"]);
});

test("what a turn reports after its session has ended is no loss: nothing is left waiting", () => {
	const { it, report, emit } = follow();
	report();
	it.session = undefined;
	emit("message_start");
	expect(it.seen).toEqual([]);
});
