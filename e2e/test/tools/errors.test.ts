/** What the model reads when a call cannot be done or a run goes wrong: always an error, always with a way on. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { availablePis, callTool, cutOff, fail, runJson, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { delegate, parentSays, scene, scoutSays } from "../../support/scene.ts";

/** The tool results that went back to the parent's model, and whether pi flagged them. */
async function resultOf(
	call: ReturnType<typeof delegate>,
	scout = scoutSays(say("fine")),
	files: Record<string, string> = {},
) {
	await using it = await scene([parentSays(call, say("I see.")), scout], { files });
	const { events } = await runJson({ env: it.env }, "Please delegate.");
	const end = events.find((event) => event.type === "tool_execution_end");
	if (end?.type !== "tool_execution_end") throw new Error("the tool was not run");
	const reply = it.server.requests.find(({ lastToolResults }) =>
		lastToolResults.some(({ name }) => name === "subagent"),
	);
	return { isError: end.isError, text: reply?.lastToolResults[0]?.text.replaceAll(it.env.root, "<root>") };
}

/** Calls that are refused before an agent exists: one pi makes them one after the other, and goes on after each. */
const REFUSED = {
	nobody: callTool("subagent", { preset: "nobodyy", task: "x" }),
	word: callTool("subagent", { preset: "exploration", task: "x" }),
	model: delegate("x", { model: "gpt-99" }),
	bare: callTool("subagent", { preset: "bare", task: "x" }),
	missing: delegate("x", { cwd: "no/such/dir" }),
	outside: delegate("x", { cwd: ".pi/../../agent" }),
};

let answers: ReturnType<typeof refuse> | undefined;

async function refuse(): Promise<Record<string, { isError: boolean; text: string | undefined }>> {
	const files = { ".pi/subagents/bare.md": "---\nname: bare\ndescription: no model\n---\nBe brief.\n" };
	await using it = await scene([parentSays(...Object.values(REFUSED), say("I see."))], { files });
	const { events } = await runJson({ env: it.env }, "Please delegate.");
	const ends = events.filter((event) => event.type === "tool_execution_end");
	const texts = it.server.requests.flatMap(({ lastToolResults }) => lastToolResults.map(({ text }) => text));
	const names = Object.keys(REFUSED);
	expect([ends.length, texts.length]).toEqual([names.length, names.length]);
	return Object.fromEntries(
		names.map((name, at) => [
			name,
			{ isError: ends[at]?.isError === true, text: texts[at]?.replaceAll(it.env.root, "<root>") },
		]),
	);
}

async function refusalOf(name: keyof typeof REFUSED) {
	answers ??= refuse();
	return (await answers)[name];
}

test("an unknown preset names the known ones", async () => {
	expect(await refusalOf("nobody")).toEqual({
		isError: true,
		text: expect.stringMatching(/^There is no preset "nobodyy"\. Known: .*general-purpose, .*repo-scout, /),
	});
});

test("a word that presets mention finds them", async () => {
	expect((await refusalOf("word"))?.text).toContain("It is mentioned by: repo-scout (Fast repo exploration).");
});

test("an unknown model names the available ones", async () => {
	expect(await refusalOf("model")).toEqual({
		isError: true,
		text: expect.stringMatching(/No available model matches "gpt-99"\. Available: fake\/fake-1\./),
	});
});

test("a preset without a model needs one in the call", async () => {
	const text = /No model: the call gives none and preset "bare" has no default\..*Available: fake\/fake-1\./;
	expect(await refusalOf("bare")).toEqual({
		isError: true,
		text: expect.stringMatching(text),
	});
});

test("a working directory that does not exist is named", async () => {
	expect(await refusalOf("missing")).toEqual({
		isError: true,
		text: "The working directory <root>/project/no/such/dir does not exist.",
	});
});

test("a relative working directory cannot lead out of the session's", async () => {
	expect(await refusalOf("outside")).toEqual({
		isError: true,
		text: "The working directory <root>/agent lies outside this session's directory; give an absolute path if that is what you mean.",
	});
});

test("a model that fails is a failure, not an answer", async () => {
	const result = await resultOf(
		delegate(),
		scoutSays({ ...callTool("ls"), text: "Let me look." }, fail("out of credit")),
	);
	expect(result.isError).toBe(true);
	expect(result.text).toMatch(/^\[agent [0-9a-z]{8} \(repo-scout\): Failed after .*out of credit.*, 1 tool call\]/);
	expect(result.text).toMatch(/What it had said until then \(partial\):\n<(partial-\w+)>\nLet me look\.\n<\/\1>/);
});

test("a model that breaks off in its answer: what it said and why are reported, also in the log", async () => {
	await using it = await scene([
		parentSays(delegate(), say("I see.")),
		scoutSays(cutOff(say("The launch code is helio, or so it seems to me"), { afterChunks: 2 })),
	]);
	await runJson({ env: it.env }, "Please delegate.");
	const reply = it.server.requests.find(({ lastToolResults }) => lastToolResults.length > 0);
	expect(reply?.lastToolResults[0]?.text).toMatch(/Failed after .*: \S[\s\S]*partial.*\nThe launch code is helio/);
	const runs = join(it.env.cwd, ".pi", "subagents", "runs");
	const [run = ""] = (await readdir(runs)).filter((name) => !name.startsWith("."));
	expect(await readFile(join(runs, run, "transcript.log"), "utf8")).toMatch(
		/^The launch code is helio.* · Model error: \S.*\n$/,
	);
});

test("an empty answer is a failure too", async () => {
	expect(await resultOf(delegate(), scoutSays(say("")))).toMatchObject({
		isError: true,
		text: expect.stringContaining("The agent's answer was empty."),
	});
});

test("a broken preset file harms nothing else", async () => {
	const files = { ".pi/subagents/broken.md": "---\nname: [unclosed\n---\n" };
	expect(await resultOf(delegate(), undefined, files)).toMatchObject({ isError: false });
});

interface KeptResult {
	content: { text: string }[];
	details: {
		agents: { status: string; outcome?: { status: string }; said?: { parts: { from: number; to: number }[] } }[];
	};
}

describe.each(await availablePis())("pi $version", (pi) => {
	test("of a call whose agents failed, the session keeps how each ended, and where its text has what they said", async () => {
		await using it = await scene([
			parentSays(delegate(), callTool("subagent", { preset: "nobody", task: "two" }), say("I see.")),
			scoutSays(cutOff(say("The launch code is helio, or so it seems to me"), { afterChunks: 2 })),
		]);
		const { events } = await runJson({ env: it.env, pi }, "Please delegate.");
		const [failed, refused] = events.filter((event) => event.type === "tool_execution_end");
		if (failed?.type !== "tool_execution_end") throw new Error("the tool was not run");
		const { content, details } = failed.result as KeptResult;
		const [agent] = details.agents;
		expect([failed.isError, agent?.status, agent?.outcome?.status]).toEqual([true, "failed", "failed"]);
		expect(agent?.outcome).not.toHaveProperty("partialText");
		const [{ from, to } = { from: 0, to: 0 }] = agent?.said?.parts ?? [];
		expect(content[0]?.text.slice(from, to)).toMatch(/^The launch code is helio[^\n]*$/);
		expect(refused).toMatchObject({ isError: true, result: { details: { agents: [] } } });
	});
});
