import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Manager } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import { expect, test } from "vitest";
import { drainBeforeTheEnd } from "../../src/session/drain.ts";
import { spec } from "../fixtures/fake-session.ts";

test.each([
	["json", ["agent_before_settle"]],
	["print", ["agent_before_settle"]],
	["rpc", []],
	["tui", []],
] as const)("in mode %s, pi is not made to ask whether it may end before there are agents", (mode, expected) => {
	const heard: string[] = [];
	const told: string[] = [];
	const manager = new Manager({
		runners: { session: fakeRunner() },
		clock: handClock(),
		newId: () => crypto.randomUUID(),
	});
	drainBeforeTheEnd({ on: (event: string) => heard.push(event) } as unknown as ExtensionAPI, {
		manager,
		delivery: {} as never,
		questions: { onMessage: () => undefined } as never,
		seconds: () => 60,
		mode: () => mode,
		warn: (text) => told.push(text),
	});
	expect(heard).toEqual([]);
	manager.spawn(spec);
	manager.spawn(spec);
	expect(heard).toEqual(expected);
	expect(told).toEqual([]);
});
