/** Dialogs of extensions inside a child in its own process, in real pi. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { availablePis, callTool, type PiBinary, piUnderTest, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import type { AgentUi, DialogAnswer } from "../../../core/src/index.ts";
import { agentIdentity } from "../../../core/src/model/schema/launch.ts";
import { linesIn } from "../../../runs/src/claims/read-run.ts";
import { claimRun, releaseRun } from "../../../runs/src/owner.ts";
import { recordOfRun } from "../../../runs/src/run-events.ts";
import { processRunner } from "../../src/process/index.ts";
import { person } from "../fixtures/person.ts";
import { processWorld } from "../fixtures/process-world.ts";

/** A child that reads a file, guarded by an extension whose `tool_call` handler has this body. */
async function guardedWorld(body: string, pi: PiBinary = piUnderTest()) {
	const world = await processWorld(
		({ lastToolResults: [result] }) =>
			result ? say(`Result: ${result.text}`) : callTool("read", { path: "note.txt" }),
		{ pi },
	);
	const { cwd, agentDir } = world.env;
	await writeFile(join(cwd, "note.txt"), "milk");
	const handler = `import { existsSync } from "node:fs";
		export default function (pi) { pi.on("tool_call", async (event, ctx) => { ${body} }); }`;
	await mkdir(join(agentDir, "extensions"), { recursive: true });
	await writeFile(join(agentDir, "extensions", "guard.ts"), handler);
	const start = (ui?: AgentUi) =>
		processRunner({ ...world.options, ...(ui ? { ui } : {}) }).start(
			{ ...world.spec, extensions: ["guard"] },
			() => undefined,
		);
	const log = async () => (await readFile(join(world.spec.artifacts, "events.jsonl"), "utf8")).split("\n");
	const place = { runDir: world.spec.artifacts, agentDir };
	/** What others that read its files know of its dialog. */
	const asking = async () => {
		const lines = linesIn((await log()).join("\n"), world.spec);
		const agent = agentIdentity(world.spec, { depth: 1, isBackground: true });
		return recordOfRun({ ...world.spec, agent, queuedAt: 0, lines }).asking;
	};
	return { ...world, start, log, place, asking };
}

/** Blocks the call with what the expression gives. */
const saying = (expression: string) => `return { block: true, reason: JSON.stringify(${expression}) };`;

async function textOf(run: ReturnType<ReturnType<typeof processRunner>["start"]>): Promise<string> {
	const outcome = await run.settled;
	return outcome.status === "completed" ? outcome.text : JSON.stringify(outcome);
}

describe.each(await availablePis())("pi $version", (pi) => {
	test("an extension sees the same as in the session: an RPC client, with a user only if someone can answer", async () => {
		await using world = await guardedWorld(saying("[ctx.mode, ctx.hasUI, await ctx.ui.confirm('Sure?', '')]"), pi);
		expect(await textOf(world.start(person({ canAnswer: false }).ui))).toBe('Result: ["rpc",false,false]');
	});

	test("each kind of dialog reaches the user, and the answer the extension", async () => {
		await using world = await guardedWorld(
			`const { ui } = ctx;
			const chosen = await ui.select("Which?", ["left", "right"]);
			const isSure = await ui.confirm("Sure?", "Really?");
			const typed = await ui.input("Why?", "because");
			const edited = await ui.editor("Edit", "draft");
			ui.notify("done", "warning");
			${saying("[ctx.mode, ctx.hasUI, chosen, isSure, typed, edited]")}`,
			pi,
		);
		const { ui, asked, notices, next } = person();
		const run = world.start(ui);
		const answers: DialogAnswer[] = [{ choice: 1 }, { confirmed: true }, { text: "so" }, { text: "final" }];
		for (const answer of answers) (await next()).answer(answer);
		expect(await textOf(run)).toBe('Result: ["rpc",true,"right",true,"so","final"]');
		expect(asked.map(({ dialog }) => dialog)).toEqual([
			{ kind: "select", title: "Which?", options: ["left", "right"] },
			{ kind: "confirm", title: "Sure?", message: "Really?" },
			{ kind: "input", title: "Why?", placeholder: "because" },
			{ kind: "editor", title: "Edit", prefill: "draft" },
		]);
		expect(notices).toEqual([{ text: "done", level: "warning" }]);
	});
});

test("a stop withdraws a dialog that is open, and is not delayed by an extension that asks again and again", async () => {
	await using world = await guardedWorld("for (;;) await ctx.ui.confirm('Sure?', '');");
	const { ui, next } = person();
	const run = world.start(ui);
	const { signal } = await next();
	run.abort({ by: "user" });
	expect(signal.aborted).toBe(true);
	expect(await run.settled).toMatchObject({ status: "aborted", by: "user" });
});

test("a dialog that its extension withdraws leaves the user's screen when the tool call has ended", async () => {
	await using world = await guardedWorld(
		`const over = new AbortController();
		const answer = ctx.ui.confirm("Sure?", "", { signal: over.signal });
		ctx.ui.notify("shown");
		while (!existsSync("shown")) await new Promise((resolve) => setTimeout(resolve, 5));
		over.abort();
		${saying("await answer")}`,
	);
	const { ui, next } = person();
	const run = world.start(ui);
	const { signal } = await next();
	await writeFile(join(world.spec.cwd, "shown"), "");
	const withdrawn = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
	await withdrawn;
	expect(await textOf(run)).toBe("Result: false");
});

test("without a pi that watches it, a dialog is dismissed at once and no one is asked", async () => {
	await using world = await guardedWorld(saying("await ctx.ui.confirm('Sure?', '')"));
	const { ui, asked, next } = person();
	const run = world.start(ui);
	const { signal } = await next();
	await releaseRun(world.place, { sessionId: undefined });
	expect(await textOf(run)).toBe("Result: false");
	expect(signal.aborted).toBe(true);
	expect(asked).toHaveLength(1);
	await claimRun(world.place, { sessionId: undefined });
});

test("those who read its files see that the user is asked", async () => {
	await using world = await guardedWorld(saying("await ctx.ui.confirm('Sure?', '')"));
	const { ui, next } = person();
	const run = world.start(ui);
	const { answer } = await next();
	expect(await world.asking()).toEqual({ id: expect.any(String), question: "Sure?", isDialog: true });
	answer({ confirmed: true });
	expect(await textOf(run)).toBe("Result: true");
	expect(await world.asking()).toBeUndefined();
});

test.each(await availablePis())(
	"one that opens while extensions start is dismissed, not waited for: pi $version",
	async (pi) => {
		await using world = await guardedWorld("", pi);
		await writeFile(
			join(world.env.agentDir, "extensions", "guard.ts"),
			`export default function (pi) {
			let isAllowed;
			pi.on("session_start", async (_event, { ui }) => { isAllowed = await ui.confirm("Begin?", ""); });
			pi.on("tool_call", () => ({ block: true, reason: String(isAllowed) }));
		}`,
		);
		const { ui, asked, notices } = person();
		expect(await textOf(world.start(ui))).toBe("Result: false");
		expect(asked).toEqual([]);
		expect(notices).toEqual([
			{ text: "It asked before it could be answered, so this was dismissed: Begin?", level: "warning" },
		]);
	},
);
