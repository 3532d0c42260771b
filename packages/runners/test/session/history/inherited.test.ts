import { describe, expect, test } from "vitest";
import { INHERITED } from "../../../../core/src/index.ts";
import { spec } from "../../../../core/test/fixtures/events.ts";
import { inheritedEntries } from "../../../src/session/history/inherited.ts";
import { inheritConversation } from "../../../src/session/index.ts";

type Messages = Parameters<typeof inheritConversation>[0];
type Message = Messages[number];

const ROOMY = { contextWindow: 200_000 };
const usage = {
	input: 9_000,
	output: 10,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 9_010,
	cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 },
};

let time = 1_000;
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: time++ });
const text = (words: string) => ({ type: "text" as const, text: words });
const thought = (words: string) => ({ type: "thinking" as const, thinking: words, thinkingSignature: "signed" });
const call = (id: string, name = "read") => ({ type: "toolCall" as const, id, name, arguments: { path: id } });
const assistant = (
	content: Extract<Message, { role: "assistant" }>["content"],
	stopReason: "stop" | "toolUse" | "error" | "aborted" = "toolUse",
): Message => ({
	role: "assistant",
	content,
	api: "openai-completions",
	provider: "fake",
	model: "one",
	usage,
	stopReason,
	timestamp: time++,
});
const result = (toolCallId: string, words = "found"): Message => ({
	role: "toolResult",
	toolCallId,
	toolName: "read",
	content: [text(words)],
	isError: false,
	timestamp: time++,
});

/** What the child reads, in short, without the note that all ends with. */
function read(messages: Messages, options = ROOMY): string[] {
	return inheritConversation(messages, options).slice(0, -1).map(brief);
}

function brief(message: ReturnType<typeof inheritConversation>[number]): string {
	if (message.role === "system") return `system ${Object.keys(message.sections ?? {}).join()}`;
	if (message.role === "toolResult") return `result ${message.toolCallId}`;
	const blocks = typeof message.content === "string" ? [text(message.content)] : message.content;
	const words = blocks.map((block) => {
		if (block.type === "text") return block.text;
		return block.type === "toolCall" ? `call ${block.id}` : block.type;
	});
	return `${message.role} ${words.join(" + ")}`;
}

describe("what a child takes over", () => {
	test("is what was said, and last a word that it is somebody else's conversation", () => {
		const messages = [user("Hello."), assistant([text("Hi.")], "stop"), user("Delegate.")];
		expect(read(messages)).toEqual(["user Hello.", "assistant Hi.", "user Delegate."]);
		expect(inheritConversation(messages, ROOMY).slice(-1).map(brief)).toEqual([
			expect.stringMatching(/^user \[So far you have read the conversation of the one who launched you/),
		]);
	});

	test("is not the call that launches it, nor any other without a result", () => {
		const launch = assistant([thought("Let me see."), text("I delegate."), call("agent-1", "Agent")]);
		expect(read([user("Go."), launch])).toEqual(["user Go.", "assistant thinking + I delegate."]);
		expect(read([user("Go."), assistant([thought("Hm."), call("agent-1", "Agent")])])).toEqual(["user Go."]);
	});

	test("keeps the calls beside it that have a result, and no thought that leads to nothing", () => {
		const both = assistant([thought("First"), call("a"), thought("then"), call("b", "Agent")]);
		expect(read([user("Go."), both, result("a")])).toEqual(["user Go.", "assistant thinking + call a", "result a"]);
	});

	test("leaves whole messages as they are, signatures included", () => {
		const message = assistant([
			{ ...thought("Hm."), redacted: true },
			{ ...call("a"), thoughtSignature: "s" },
		]);
		const [, kept] = inheritConversation([user("Go."), message, result("a")], ROOMY);
		expect(kept).toEqual({ ...message, usage: expect.anything() });
	});

	test("holds nothing that an error or a stop has cut off, and no result without its call", () => {
		const broken = assistant([call("a")], "aborted");
		expect(read([user("Go."), broken, result("a"), result("ghost"), user("Again.")])).toEqual([
			"user Go.",
			"user Again.",
		]);
	});

	test("is what models read: no details of tools, whatever their size, and nothing of what these cost", () => {
		const heavy = { ...result("a"), details: { log: "x".repeat(1_000_000) }, usage } as Message;
		const [, , kept] = inheritConversation([user("look"), assistant([call("a")]), heavy], ROOMY);
		expect(kept).toMatchObject({ role: "toolResult", toolCallId: "a", content: [text("found")], isError: false });
		expect(kept).not.toHaveProperty("details");
		expect(kept).not.toHaveProperty("usage");
	});

	test("costs it nothing that others have paid", () => {
		const [, kept] = inheritConversation([user("Hello."), assistant([text("Hi.")], "stop")], ROOMY);
		expect(kept).toMatchObject({ usage: { input: 0, output: 0, totalTokens: 0, cost: { total: 0 } } });
	});

	test("includes summaries and messages of extensions as the model would read them", () => {
		const messages: Messages = [
			{ role: "compactionSummary", summary: "We built a boat.", tokensBefore: 9, timestamp: 1 },
			{ role: "branchSummary", summary: "It sank.", fromId: "x", timestamp: 2 },
			{
				role: "custom",
				customType: "subagent-notification",
				content: "Agent a1 is done.",
				display: true,
				timestamp: 3,
			},
			{
				role: "bashExecution",
				command: "ls",
				output: "boat",
				exitCode: 0,
				cancelled: false,
				truncated: false,
				timestamp: 4,
			},
			{
				role: "bashExecution",
				command: "secret",
				output: "",
				exitCode: 0,
				cancelled: false,
				truncated: false,
				excludeFromContext: true,
				timestamp: 5,
			},
		];
		expect(read(messages)).toEqual([
			expect.stringMatching(/^user .*compacted into the following summary:.*We built a boat\./s),
			expect.stringMatching(/^user .*summary of a branch.*It sank\./s),
			"user Agent a1 is done.",
			expect.stringMatching(/^user Ran `ls`/),
		]);
	});

	test("keeps what system messages say of prompt and tools, which pi replaces, and none of their free words", () => {
		const system: Message = { role: "system", content: "Obey.", sections: { preamble: "You are pi." }, timestamp: 1 };
		const free: Message = { role: "system", content: "Obey me, too.", timestamp: 2 };
		const taken = inheritConversation([system, user("Hello."), free], ROOMY);
		expect(taken.slice(0, -1).map(brief)).toEqual(["system preamble", "user Hello."]);
		expect(JSON.stringify(taken)).not.toContain("Obey");
	});
});

describe("a conversation that is too long", () => {
	const words = (tokens: number) => "word".repeat(tokens);
	const NOTE = "user [The beginning of this conversation was left out, because it is too long to hand over.]";

	test("loses its beginning, whole turns at a time", () => {
		const messages = [
			user(`one ${words(300)}`),
			assistant([call("a")]),
			result("a"),
			user(`two ${words(300)}`),
			assistant([text("done")], "stop"),
			user("three"),
		];
		const kept = read(messages, { contextWindow: 1_000 });
		expect(kept.map((line) => line.slice(0, 40))).toEqual([
			NOTE.slice(0, 40),
			expect.stringMatching(/^user two/),
			"assistant done",
			"user three",
		]);
		expect(kept[0]).toBe(NOTE);
	});

	test("loses the beginning of its last turn, if that is too long, but never half of a call", () => {
		const messages = [
			user(words(2_000)),
			assistant([call("a")]),
			result("a", words(2_000)),
			assistant([call("b")]),
			result("b"),
		];
		expect(read(messages, { contextWindow: 1_000 })).toEqual([NOTE, "assistant call b", "result b"]);
	});

	test("is only said to have been there, if nothing of it fits", () => {
		const messages = [user("one"), assistant([call("a")]), result("a", words(2_000))];
		expect(read(messages, { contextWindow: 1_000 })).toEqual([NOTE]);
	});

	test("keeps what its system messages say", () => {
		const system = (name: string): Message => ({
			role: "system",
			content: "",
			sections: { [name]: "x" },
			timestamp: 1,
		});
		const messages = [system("preamble"), user(words(2_000)), system("skills"), user("two"), system("cwd")];
		expect(read(messages, { contextWindow: 1_000 })).toEqual([
			"system preamble",
			"system skills",
			NOTE,
			"user two",
			"system cwd",
		]);
	});

	test("keeps its latest pictures only", () => {
		const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
		const picture = (words: string): Message => ({ role: "user", content: [text(words), image], timestamp: time++ });
		const messages = Array.from({ length: 10 }, (_, index) => picture(String(index)));
		const kept = inheritConversation(messages, ROOMY).slice(0, -1);
		const isImage = kept.map(({ content }) => JSON.stringify(content).includes("image/png"));
		expect(isImage).toEqual([false, false, ...Array.from({ length: 8 }, () => true)]);
		expect(kept.slice(0, 1).map(brief)).toEqual(["user 0 + [An image was left out.]"]);
		const huge: Message = { role: "user", content: [{ ...image, data: "A".repeat(13_000_000) }], timestamp: 1 };
		expect(read([picture("small"), huge])).toEqual(["user small + image", "user [An image was left out.]"]);
	});
});

describe("a spec that carries a conversation", () => {
	const inherited = inheritConversation([user("Hello.")], ROOMY);

	test("is small JSON all the same, and carries it through every copy", () => {
		const carrying = { ...spec, inheritsContext: true, [INHERITED]: inherited };
		expect(JSON.parse(JSON.stringify(carrying))).toEqual({ ...spec, inheritsContext: true });
		expect({ ...carrying, agentId: "a1" }[INHERITED]).toBe(inherited);
	});

	test("becomes a session file of pi's, each message after the other", () => {
		const entries = inheritedEntries({ ...spec, [INHERITED]: inherited }, { id: "s1", at: 0 });
		expect(entries).toMatchObject([
			{ type: "session", id: "s1", cwd: "/project", timestamp: "1970-01-01T00:00:00.000Z" },
			{ type: "message", id: "00000000", parentId: null, message: { role: "user" } },
			{ type: "message", id: "00000001", parentId: "00000000", message: { role: "user" } },
		]);
	});

	test("that lost it on the way is an error, not an agent that knows nothing", () => {
		expect(() => inheritedEntries(spec, { id: "s1", at: 0 })).toThrow("but none was given");
	});
});
