import { expect, test } from "vitest";
import { MAX_OPEN_DIALOGS } from "../../../../core/src/model/dialog.ts";
import { OpenDialogs } from "../../../src/process/wrapper/open-dialogs.ts";

const began = (toolCallId: string) => ({ type: "tool_execution_start", toolCallId });
const ended = (toolCallId: string) => ({ type: "tool_execution_end", toolCallId });

test("a dialog is over when the calls that ran when it opened have ended, and not before", () => {
	const dialogs = new OpenDialogs();
	dialogs.hear(began("1"));
	dialogs.hear(began("2"));
	const { signal } = dialogs.begin() ?? {};
	dialogs.hear(began("3"));
	dialogs.hear(ended("1"));
	expect(signal?.aborted).toBe(false); // it may belong to the other call
	dialogs.hear(ended("2"));
	expect(signal?.aborted).toBe(true);
});

test("one that belongs to no call is over when pi has settled", () => {
	const dialogs = new OpenDialogs();
	const { signal } = dialogs.begin() ?? {};
	dialogs.hear(began("1"));
	dialogs.hear(ended("1"));
	expect(signal?.aborted).toBe(false);
	dialogs.hear({ type: "agent_settled" });
	expect(signal?.aborted).toBe(true);
});

test("only a few are open at a time, and an answered one makes room", () => {
	const dialogs = new OpenDialogs();
	const open = Array.from({ length: MAX_OPEN_DIALOGS }, () => dialogs.begin());
	expect(dialogs.begin()).toBeUndefined();
	open[0]?.end();
	expect(dialogs.begin()).toBeDefined();
});
