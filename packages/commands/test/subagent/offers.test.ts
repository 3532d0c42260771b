import { expect, test } from "vitest";
import { heldText, interruptedIn, quitText, stoppedText } from "../../src/input/offers.ts";
import { agent } from "../fixture.ts";

const ended = (by: "shutdown" | "user", fields: object = {}) =>
	agent({ status: "aborted", outcome: { status: "aborted", by }, completedAt: 2_000, ...fields });

test("only agents that ended with their pi, after the user's last words, are offered", () => {
	const offered = ended("shutdown", { id: "mine" });
	const others = [
		agent(),
		ended("user"),
		ended("shutdown", { parentAgentId: "mine" }),
		ended("shutdown", { completedAt: 500 }),
		ended("shutdown", { runner: "workflow" }),
	];
	expect(interruptedIn([offered, ...others], 1_000)).toEqual([offered]);
});

test("the line on the shell names what was stopped, and not too many", () => {
	const one = [agent({ id: "a1", type: "sc\x1b[2Jout" })];
	const line = "pi-subagents: quitting stopped 1 agent: scout a1.";
	expect(quitText(one, true)).toBe(`${line} pi --continue offers to resume it.`);
	expect(quitText(one, false)).toBe(line);
	const many = Array.from({ length: 7 }, (_, at) => agent({ id: `a${at}`, type: "scout" }));
	expect(quitText(many, true)).toContain(
		"stopped 7 agents: scout a0, scout a1, scout a2, scout a3, scout a4 and 2 more.",
	);
});

test("the line above the editor names the key of the user's settings, and none where there is none", () => {
	expect(heldText(2, "f6")).toBe("2 results ready – they arrive with your next message (f6: now)");
	expect(heldText(1, "")).toBe("1 result ready – it arrives with your next message");
	expect(stoppedText([ended("shutdown", { id: "a1", type: "scout" })], "alt+r")).toBe(
		"1 agent was stopped when pi quit: scout a1 (alt+r: resume)",
	);
});
