/** The scripted model in this process, under pi's own sessions. */
import {
	createAgentSession,
	DefaultResourceLoader,
	SessionManager,
	SettingsManager,
} from "@earendil-works/pi-coding-agent";
import { expect, onTestFinished, test } from "vitest";
import {
	callTool,
	converse,
	createGate,
	createTempDir,
	type FauxModel,
	fail,
	fauxModel,
	hang,
	httpError,
	lastUserSays,
	modelIs,
	say,
	toolReturned,
	when,
} from "../src/index.ts";

async function session({ modelRuntime, model }: FauxModel) {
	const dir = await createTempDir();
	const settingsManager = SettingsManager.inMemory({ retry: { enabled: false } });
	const resourceLoader = new DefaultResourceLoader({
		cwd: dir.path,
		agentDir: dir.path,
		settingsManager,
		noExtensions: true,
		noSkills: true,
	});
	await resourceLoader.reload();
	const created = await createAgentSession({
		cwd: dir.path,
		agentDir: dir.path,
		settingsManager,
		resourceLoader,
		modelRuntime,
		model,
		tools: ["ls"],
		sessionManager: SessionManager.inMemory(dir.path),
	});
	onTestFinished(async () => {
		created.session.dispose();
		await dir.remove();
	});
	return created.session;
}

function lastMessage({ messages }: Awaited<ReturnType<typeof session>>) {
	return messages.at(-1);
}

test("a function of the request answers, and the request is remembered", async () => {
	const faux = await fauxModel((request) => say(`You said ${request.lastUserText}`));
	const agent = await session(faux);
	await agent.prompt("hello");
	expect(agent.getLastAssistantText()).toBe("You said hello");
	expect(faux.requests).toMatchObject([
		{ number: 1, model: "faux-1", turn: 1, messages: [{ role: "user", text: "hello" }], tools: [{ name: "ls" }] },
	]);
	expect(faux.requests[0]?.systemPrompt).not.toBe("");
});

test("the same rules as for the server: a conversation with a tool", async () => {
	const faux = await fauxModel([converse(lastUserSays("list"), callTool("ls"), say("empty, it seems"))]);
	const agent = await session(faux);
	await agent.prompt("list");
	expect(agent.getLastAssistantText()).toBe("empty, it seems");
	expect(faux.requests[1]).toMatchObject({ turn: 2, lastToolResults: [{ id: "call_1_0", name: "ls" }] });
});

test("two sessions at once each get their own answers, in whichever order", async () => {
	const gate = createGate();
	const faux = await fauxModel([
		when(toolReturned("ls"), ({ lastUserText }) => say(`${lastUserText} is done`)),
		when(lastUserSays("slow"), { ...callTool("ls"), gate }),
		when(lastUserSays("fast"), callTool("ls")),
	]);
	const [slow, fast] = await Promise.all([session(faux), session(faux)]);
	const slowRun = slow.prompt("slow");
	await faux.nextRequest(({ lastUserText }) => lastUserText === "slow");
	await fast.prompt("fast");
	expect(fast.getLastAssistantText()).toBe("fast is done");
	expect(slow.getLastAssistantText()).toBeUndefined();
	gate.open();
	await slowRun;
	expect(slow.getLastAssistantText()).toBe("slow is done");
	expect(faux.requests.map(({ lastUserText, turn }) => `${lastUserText} ${turn}`)).toEqual([
		"slow 1",
		"fast 1",
		"fast 2",
		"slow 2",
	]);
});

test("usage is what the reply says, priced by the model", async () => {
	const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
	const faux = await fauxModel(() => say("ok", { thinking: "hm", usage: { input: 1_000_000, output: 500_000 } }), {
		provider: "priced",
		models: [{ id: "gold", cost, reasoning: true }],
	});
	const agent = await session(faux);
	await agent.prompt("go");
	expect(lastMessage(agent)).toMatchObject({
		provider: "priced",
		model: "gold",
		content: [
			{ type: "thinking", thinking: "hm" },
			{ type: "text", text: "ok" },
		],
		usage: { input: 1_000_000, output: 500_000, totalTokens: 1_500_000, cost: { total: 2 } },
	});
	expect(agent.getSessionStats().cost).toBe(2);
});

test.each([
	[fail("no such luck"), "no such luck"],
	[httpError(503, "down for tea"), "503 down for tea"],
	[httpError(400, { error: { message: "bad" } }), '400: {"message":"bad"}'],
])("a failure is an error message: %j", async (reply, errorMessage) => {
	const agent = await session(await fauxModel(() => reply));
	await agent.prompt("go");
	expect(lastMessage(agent)).toMatchObject({ stopReason: "error", errorMessage });
});

test("an abort ends a model that hangs or waits at a gate", async () => {
	const faux = await fauxModel([
		when(lastUserSays("hang"), hang()),
		when(lastUserSays("gate"), say("", { gate: createGate() })),
	]);
	for (const prompt of ["hang", "gate"]) {
		const agent = await session(faux);
		const run = agent.prompt(prompt);
		await faux.nextRequest(({ lastUserText }) => lastUserText === prompt);
		await agent.abort();
		await run;
		expect(lastMessage(agent)).toMatchObject({ stopReason: "aborted" });
	}
});

test("a request that no rule takes is an error that says what was asked", async () => {
	const agent = await session(await fauxModel([when(modelIs("other"), say("no"))]));
	await agent.prompt("go");
	const errorMessage = expect.stringMatching(/^No rule of the test matches request 1, model faux-1.*"go"/);
	expect(lastMessage(agent)).toMatchObject({ stopReason: "error", errorMessage });
});
