import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { all, callTool, offersTool, onTurn, otherwise, say, when } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { INHERITED } from "../../../../core/src/index.ts";
import {
	conversationsWritten,
	inheritConversation,
	type SessionHost,
	sessionRunner,
} from "../../../src/session/index.ts";
import { lastTool, type SessionWorld, sessionWorld } from "../../fixtures/session.ts";

type Messages = Parameters<typeof inheritConversation>[0];
type Tool = ReturnType<NonNullable<SessionHost["childTools"]>>[number];

/** A parent that talks, calls a tool and then launches; what it has said when it does so is what its child inherits. */
async function parentOf(world: SessionWorld): Promise<Messages> {
	let branch: Messages = [];
	const launch: Tool = {
		...lastTool,
		name: "launch",
		execute: async (_id, _params, _signal, _onUpdate, ctx) => {
			branch = ctx.sessionManager.buildSessionProjection().messages;
			return { content: [{ type: "text", text: "Launched." }], details: {}, terminate: true };
		},
	};
	const runner = sessionRunner({ ...world.host, childTools: () => [launch] });
	const systemPrompt = { mode: "append", text: "You are the parent." } as const;
	await runner.start({ ...world.spec, systemPrompt, task: "The word is heliotrope." }, () => undefined).settled;
	return branch;
}

const parentAndChild = [
	when(all(offersTool("launch"), onTurn(1)), callTool("ls", { path: "." })),
	when(all(offersTool("launch"), onTurn(2)), { ...callTool("launch"), text: "I launch." }),
	otherwise(say("It was heliotrope.")),
];

const CHILD = { systemPrompt: { mode: "replace", text: "You are the child." }, tools: ["read"] } as const;

async function familyWorld() {
	const world = await sessionWorld(parentAndChild);
	const branch = await parentOf(world);
	const inherited = inheritConversation(branch, { contextWindow: 100_000 });
	const spec = { ...world.spec, ...CHILD, task: "Which word?", inheritsContext: true, [INHERITED]: inherited };
	const asked = () => world.model.requests.at(-1);
	return { ...world, branch, spec, asked };
}

describe("a child that inherits its parent's conversation", () => {
	test("reads what was said, without the call that launched it, and then its task", async () => {
		await using world = await familyWorld();
		const outcome = await sessionRunner(world.host).start(world.spec, () => undefined).settled;
		expect(outcome).toEqual({ status: "completed", text: "It was heliotrope." });
		expect(world.asked()?.messages.map(({ role, text }) => `${role} ${text}`)).toEqual([
			"user The word is heliotrope.",
			"assistant ",
			expect.stringMatching(/^tool /),
			"assistant I launch.",
			expect.stringMatching(/^user \[So far you have read/),
			"user Which word?",
		]);
		expect(JSON.stringify(world.asked()?.messages)).not.toContain("Launched.");
	});

	test("has its own system prompt and its own tools", async () => {
		await using world = await familyWorld();
		await sessionRunner(world.host).start(world.spec, () => undefined).settled;
		const { systemPrompt, tools } = world.asked() ?? {};
		expect(systemPrompt).toContain("You are the child.");
		expect(systemPrompt).not.toContain("You are the parent.");
		expect(systemPrompt).not.toContain("You are an expert coding assistant");
		expect(tools?.map(({ name }) => name)).toEqual(["read"]);
	});

	test("is kept with all it knows, so that it can be resumed", async () => {
		await using world = await familyWorld();
		const sessionDir = join(world.dir, "sessions");
		const runner = sessionRunner({ ...world.host, sessionDir: () => sessionDir });
		await runner.start({ ...world.spec, agentId: "b1" }, () => undefined).settled;
		await conversationsWritten();
		const [file = ""] = await readdir(join(sessionDir, "b1"));
		const kept = SessionManager.open(join(sessionDir, "b1", file)).buildSessionContext().messages;
		expect(kept.filter(({ role }) => role === "user")).toHaveLength(3);
		// The next run carries no conversation, as after a restart.
		const { [INHERITED]: _gone, ...resumed } = { ...world.spec, agentId: "b1", run: 2, task: "Say it again." };
		await runner.start(resumed, () => undefined).settled;
		const users = world.asked()?.messages.filter(({ role }) => role === "user");
		expect(users?.map(({ text }) => text)).toEqual([
			"The word is heliotrope.",
			expect.stringContaining("So far you have read"),
			"Which word?",
			"Say it again.",
		]);
	});

	test("fails when the conversation was lost on its way, before its model is asked", async () => {
		await using world = await familyWorld();
		const { [INHERITED]: _lost, ...spec } = world.spec;
		const before = world.model.requests.length;
		expect(await sessionRunner(world.host).start(spec, () => undefined).settled).toMatchObject({ status: "failed" });
		expect(world.model.requests).toHaveLength(before);
	});
});
