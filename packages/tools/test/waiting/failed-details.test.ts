import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { expect, test } from "vitest";
import { keepFailedDetails } from "../../src/waiting/failed-details.ts";

type Handler = (event: object) => unknown;

function pi() {
	let handler: Handler = () => undefined;
	const on = (_event: string, listener: Handler) => {
		handler = listener;
	};
	const keep = keepFailedDetails({ on } as unknown as Pick<ExtensionAPI, "on">);
	const ended = (toolCallId: string, more: object = {}) =>
		handler({ toolName: "subagent", toolCallId, isError: true, details: {}, ...more });
	return { keep, ended };
}

test("a call that failed gets its details back, once", () => {
	const { keep, ended } = pi();
	keep("c1", { agents: [{ agentId: "a1" }] });
	expect(ended("c1")).toEqual({ details: { agents: [{ agentId: "a1" }] } });
	expect(ended("c1")).toEqual({ details: { agents: [] } });
});

test("a call that was refused says that it is about no agent; other tools and results are left alone", () => {
	const { ended } = pi();
	expect(ended("c1")).toEqual({ details: { agents: [] } });
	expect(ended("c1", { toolName: "bash" })).toBeUndefined();
	expect(ended("c1", { isError: false })).toBeUndefined();
	expect(ended("c1", { details: { agents: [{ agentId: "a1" }] } })).toBeUndefined();
});

test("details that pi never asks for are not kept forever", () => {
	const { keep, ended } = pi();
	for (let call = 0; call < 1_000; call++) keep(`c${call}`, { call });
	expect(ended("c0")).toEqual({ details: { agents: [] } });
	expect(ended("c999")).toEqual({ details: { call: 999 } });
});
