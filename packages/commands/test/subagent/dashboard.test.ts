/** `/subagent dashboard`: who gets to see the link, and when the server ends. */
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { Manager } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { subagentCommand } from "../../src/subagent/subagent.ts";
import type { CommandDeps } from "../../src/subcommand.ts";

function world({ mode = "tui" }: { mode?: string } = {}) {
	const manager = new Manager({ runners: { session: fakeRunner() }, clock: handClock(), newId: () => "a1" });
	const [entries, notices, ends]: [unknown[], string[], (() => Promise<void>)[]] = [[], [], []];
	const pi = {
		appendEntry: (_type: string, data: unknown) => entries.push(data),
		on: (_event: "session_shutdown", handler: () => Promise<void>) => ends.push(handler),
	} as unknown as ExtensionAPI;
	const ctx = {
		mode,
		hasUI: mode !== "print",
		sessionManager: { getEntries: () => [] },
		ui: { notify: (text: string) => notices.push(text) },
	} as unknown as ExtensionCommandContext;
	const host = { agentDir: "/nowhere" };
	const { handler } = subagentCommand(pi, { host, manager } as unknown as CommandDeps);
	const endSession = async () => {
		for (const end of ends) await end();
	};
	onTestFinished(endSession);
	return { call: (args: string) => handler(args, ctx), entries, notices, endSession, ends };
}

const linkIn = (text = "") => /http:\/\/127\.0\.0\.1:\d+\/#[\w-]{32}/.exec(text)?.[0] ?? "";
const isOpen = (link: string) =>
	fetch(link).then(
		({ ok }) => ok,
		() => false,
	);

test("the link is a notice and in no entry of the session; the session's end closes the server", async () => {
	const { call, entries, notices, endSession, ends } = world();
	await call("dashboard");
	await call("dashboard");
	const [first = "", second] = notices.map(linkIn);
	expect([await isOpen(first), second, ends.length]).toEqual([true, first, 1]);
	expect(JSON.stringify(entries)).toContain("until this session ends");
	expect(JSON.stringify(entries)).not.toContain("127.0.0.1");
	await endSession();
	expect(await isOpen(first)).toBe(false);
});

test("stop closes it, and a wish for everything gives it another link", async () => {
	const { call, entries, notices } = world();
	await call("dashboard stop");
	await call("dashboard");
	await call("dashboard --full");
	const [plain = "", full = ""] = notices.map(linkIn);
	expect([await isOpen(plain), await isOpen(full)]).toEqual([false, true]);
	await call("dashboard stop");
	expect(await isOpen(full)).toBe(false);
	expect(JSON.stringify(entries[0])).toContain("There is no dashboard.");
	expect(JSON.stringify(entries.at(-1))).toContain("The dashboard is closed.");
});

test("other words are refused", async () => {
	const { call, entries, notices } = world();
	await call("dashboard 0.0.0.0");
	expect(JSON.stringify(entries)).toContain("use /subagent dashboard [--full|stop]");
	expect(notices).toEqual([]);
});
