import type { ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { AgentRecord, Outcome } from "@pi-subagents/core";
import { outcomeForModel } from "@pi-subagents/core/outcome-text";
import { expect, test } from "vitest";
import { bounded, RunFailure } from "../../src/waiting/bounded.ts";

const endless = "x".repeat(10_000_000);

/** What a model reads of a tool that does this. */
async function read(execute: () => unknown): Promise<string> {
	const tool = bounded({ name: "tool", execute } as unknown as ToolDefinition);
	try {
		const { content } = await tool.execute("call", {}, undefined, undefined, {} as ExtensionContext);
		return content.map((part) => (part.type === "text" ? part.text : "")).join("");
	} catch (error) {
		return (error as Error).message;
	}
}

test("whatever a tool says or throws is bounded", async () => {
	expect((await read(() => ({ content: [{ type: "text", text: endless }] }))).length).toBe(250_000);
	const thrown = [
		new Error(endless),
		new RunFailure(endless, {}),
		Object.assign(new Error(endless), { code: "ENOENT" }),
		endless,
	];
	for (const error of thrown)
		expect((await read(() => Promise.reject(error))).length).toBeLessThanOrEqual(
			error instanceof RunFailure ? 250_000 : 4_000,
		);
});

test("what is short comes as it was, and the error is the same", async () => {
	expect(await read(() => ({ content: [{ type: "text", text: "Two doors." }] }))).toBe("Two doors.");
	expect(await read(() => Promise.reject(new Error("no")))).toBe("no");
});

test("several reports share the room of a result", () => {
	const record = {
		id: "a1",
		type: "scout",
		description: "look around",
		toolUses: 0,
		turns: 1,
		usage: {},
		status: "completed",
	} as unknown as AgentRecord;
	const outcome: Outcome = { status: "completed", text: endless };
	const sizes = [1, 4, 100].map((of) => outcomeForModel({ outcome, record }, { of }).text.length * of);
	for (const size of sizes) expect(size).toBeLessThan(250_000);
});
