/** Which rule takes which request. */
import { expect, test } from "vitest";
import {
	all,
	type MessageView,
	modelIs,
	offersTool,
	once,
	onTurn,
	otherwise,
	say,
	systemPromptSays,
	toolReturned,
	when,
} from "../src/index.ts";
import { viewOf } from "../src/script/request.ts";
import { answer } from "../src/script/rules.ts";

const asked: MessageView = { role: "user", text: "go" };
const called: MessageView = { role: "assistant", text: "", toolCalls: [{ id: "1", name: "read", args: {} }] };
const returned: MessageView = { role: "tool", id: "1", name: "read", text: "alpha" };

function request(...messages: MessageView[]) {
	const tools = [{ name: "read", description: "", parameters: {} }];
	return viewOf(1, { model: "m", systemPrompt: "You are blue.", messages, tools });
}

test.each([
	["nothing", [], { turn: 1, lastUserText: "", lastToolResults: [] }],
	["a question", [asked], { turn: 1, lastUserText: "go", lastToolResults: [] }],
	["a result", [asked, called, returned], { turn: 2, lastUserText: "go", lastToolResults: [returned] }],
	["the next question", [asked, called, returned, called, asked], { turn: 1, lastToolResults: [] }],
])("turn and results of %s", (_name, messages, expected) => {
	expect(request(...messages)).toMatchObject(expected);
});

test("the first rule that applies answers", () => {
	const rules = [
		when(toolReturned("read", /^beta/), say("beta")),
		when(all(toolReturned("read"), onTurn(2), offersTool("read"), systemPromptSays("blue"), modelIs("m")), say("all")),
		otherwise(say("otherwise")),
	];
	expect(answer(rules, request(asked, called, returned))).toEqual(say("all"));
	expect(answer(rules, request(asked))).toEqual(say("otherwise"));
});

test("a rule for once is over after its first reply, not after its first look", () => {
	const rules = [once(when(toolReturned("read"), say("once"))), otherwise(say("again"))];
	const texts = [request(asked), request(asked, called, returned), request(asked, called, returned)].map(
		(each) => answer(rules, each).text,
	);
	expect(texts).toEqual(["again", "once", "again"]);
});
