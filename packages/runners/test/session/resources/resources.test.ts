import { mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createGate, otherwise, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { handClock } from "../../../../core/src/testing/index.ts";
import { sessionRunner } from "../../../src/session/index.ts";
import { lastTool, type SessionWorld, sessionWorld } from "../../fixtures/session.ts";

let changes = 0;

/** Writes a file whose time differs from all before, whatever the clock of the disk can tell apart. */
async function put(path: string, text: string): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, text);
	const time = new Date(2_000_000_000_000 + ++changes * 1_000);
	await utimes(path, time, time);
}

/** Children of one runner, one after the other, and what the last was told. */
async function launcher(world: SessionWorld) {
	const runner = sessionRunner(world.host);
	return async (change: Partial<SessionWorld["spec"]> = {}): Promise<string> => {
		await runner.start({ ...world.spec, ...change }, () => undefined).settled;
		return world.model.requests.at(-1)?.systemPrompt ?? "";
	};
}

describe("what children share", () => {
	test("is read again when it has changed: context, prompts, skills", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		const { agentDir } = world.host;
		const { cwd } = world.spec;
		const launch = await launcher(world);
		const plain = await launch();

		await put(join(cwd, "AGENTS.md"), "Use tabs.");
		expect(await launch()).toContain("Use tabs.");
		await put(join(cwd, "AGENTS.md"), "Use spaces.");
		const spaced = await launch();
		expect(spaced).toContain("Use spaces.");
		expect(spaced).not.toContain("Use tabs.");
		await rm(join(cwd, "AGENTS.md"));

		await put(join(agentDir, "APPEND_SYSTEM.md"), "Speak softly.");
		expect(await launch()).toContain("Speak softly.");
		await rm(join(agentDir, "APPEND_SYSTEM.md"));

		await put(join(agentDir, "SYSTEM.md"), "You are a poet.");
		const poet = await launch();
		expect(poet).toContain("You are a poet.");
		expect(poet).not.toContain("coding assistant");
		await rm(join(agentDir, "SYSTEM.md"));

		const skill = join(agentDir, "skills", "team", "bake", "SKILL.md");
		await put(skill, "---\nname: bake\ndescription: Bakes bread.\n---\n");
		expect(await launch()).toContain("Bakes bread.");
		await put(skill, "---\nname: bake\ndescription: Bakes cake.\n---\n");
		expect(await launch()).toContain("Bakes cake.");
		await put(join(agentDir, "skills", "team", "sew", "SKILL.md"), "---\nname: sew\ndescription: Sews.\n---\n");
		expect(await launch()).toContain("Sews.");
		await rm(join(agentDir, "skills"), { recursive: true });

		expect(await launch()).toBe(plain);
	});

	test("is not shared between projects, nor between a trusted one and the same untrusted", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		const { cwd } = world.spec;
		const other = join(world.dir, "other");
		await put(join(cwd, "AGENTS.md"), "Project one.");
		await put(join(cwd, ".pi", "APPEND_SYSTEM.md"), "Obey the repository.");
		await put(join(other, "AGENTS.md"), "Project two.");
		let isTrusted = false;
		const launch = await launcher({ ...world, host: { ...world.host, isProjectTrusted: () => isTrusted } });
		const told = async (change: Partial<SessionWorld["spec"]> = {}) => {
			const prompt = await launch(change);
			return ["Project one.", "Project two.", "Obey the repository."].filter((text) => prompt.includes(text));
		};
		expect(await told()).toEqual(["Project one."]);
		expect(await told({ cwd: other })).toEqual(["Project two."]);
		isTrusted = true;
		expect(await told()).toEqual(["Project one.", "Obey the repository."]);
		isTrusted = false;
		expect(await told()).toEqual(["Project one."]);
	});

	test("serves many that start at once", async () => {
		await using world = await sessionWorld((request) => say(`Re: ${request.lastUserText}`));
		const runner = sessionRunner(world.host);
		const runs = Array.from({ length: 50 }, (_, index) =>
			runner.start({ ...world.spec, agentId: `a${index}`, task: `Task ${index}` }, () => undefined),
		);
		const outcomes = await Promise.all(runs.map(({ settled }) => settled));
		expect(outcomes).toEqual(runs.map((_, index) => ({ status: "completed", text: `Re: Task ${index}` })));
	});
});

describe("the system prompt", () => {
	test("names the agent for permission systems, whatever its name is made of", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		const launch = await launcher(world);
		expect(await launch()).toContain('<active_agent name="scout"/>');
		expect(await launch({ systemPrompt: { mode: "replace", text: "Be brief." } })).toContain(
			'<active_agent name="scout"/>',
		);
		expect(await launch({ type: "x\"/><y a='&" })).toContain('<active_agent name="x&#34;/&#62;&#60;y a=&#39;&#38;"/>');
	});

	test("is the preset's text, never the file of that name", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		const file = join(world.dir, "secret.txt");
		await put(file, "The secret.");
		const launch = await launcher(world);
		for (const mode of ["append", "replace"] as const) {
			const prompt = await launch({ systemPrompt: { mode, text: file } });
			expect(prompt).toContain(file);
			expect(prompt).not.toContain("The secret.");
		}
	});

	test("keeps what the user appends to every prompt, before what the preset says", async () => {
		await using world = await sessionWorld(otherwise(say("ok")));
		await put(join(world.host.agentDir, "APPEND_SYSTEM.md"), "Speak softly.");
		const prompt = await (await launcher(world))({ systemPrompt: { mode: "append", text: "You are a scout." } });
		expect(prompt).toMatch(/Speak softly\.\s*You are a scout\./);
	});
});

test("tools made for this child are offered beside those of its spec", async () => {
	await using world = await sessionWorld(otherwise(say("ok")));
	const asked: unknown[] = [];
	world.host.childTools = (spec) => {
		asked.push([spec.agentId, spec.run, spec.type]);
		return [lastTool];
	};
	await (await launcher(world))();
	expect(world.model.requests[0]?.tools.map(({ name }) => name).sort()).toEqual(["ls", "read", "submit"]);
	expect(asked).toEqual([["a1", 1, "scout"]]);
});

test("a stopped child whose tool does not listen is left behind, and that is reported", async () => {
	await using world = await sessionWorld(otherwise({ toolCalls: [{ name: "deaf", args: {} }] }));
	const clock = handClock();
	const reports: string[] = [];
	const entered = createGate();
	const deaf = {
		...lastTool,
		name: "deaf",
		execute: () => {
			entered.open();
			return new Promise<never>(() => {});
		},
	};
	const host = {
		...world.host,
		clock,
		report: (message: string) => void reports.push(message),
		childTools: () => [deaf],
	};
	const run = sessionRunner(host).start(world.spec, () => undefined);
	await entered;
	run.abort({ by: "user" });
	while (clock.waiting() === 0) await new Promise(setImmediate);
	clock.advance(5_000);
	expect(await run.settled).toEqual({ status: "aborted", by: "user" });
	expect(reports).toEqual(["A stopped agent is still busy after 5 s and was abandoned."]);
	expect(clock.waiting()).toBe(0);
});
