/** `@name message`: whom a text addresses, what is done about it, and which names are suggested. */
import type { AutocompleteProvider } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { mentionIn, mentionItems, textForModel } from "../../src/input/mention.ts";
import { withMentions } from "../../src/input/register.ts";
import { agent, preset } from "../fixture.ts";

const done = { status: "completed", outcome: { status: "completed", text: "It is heliotrope." } } as const;
const agents = [
	agent({ id: "aaaa0001" }),
	agent({ id: "aaaa0002", status: "queued" }),
	agent({ id: "aaaa0003", name: "left-door", status: "waiting", question: "Which colour?" }),
	agent({ id: "aaaa0004", name: "Painter", ...done }),
	agent({ id: "aaaa0005", name: "painter", status: "failed" }),
	agent({ id: "aaaa0006", name: "v1.2", ...done }),
];
const known = { agents, presets: ["scout", "Explore", "main"], isFile: (name: string) => name === "notes" };

const meant = (text: string) => {
	const mention = mentionIn(text, known);
	if (mention?.to === "agent") return [mention.does, mention.agent.id, mention.message];
	return mention && [mention.to === "preset" ? `start ${mention.preset}` : mention.to, mention.message];
};

test.each([
	["@aaaa0001 go left", ["steer", "aaaa0001", "go left"]],
	["@AAAA0001   go left", ["steer", "aaaa0001", "go left"]],
	["@aaaa0002 go left", ["steer", "aaaa0002", "go left"]],
	["@left-door red", ["answer", "aaaa0003", "red"]],
	["@painter once more\n\nwith feeling ", ["resume", "aaaa0005", "once more\n\nwith feeling "]],
	["@scout find it", ["start scout", "find it"]],
	["@explore find it", ["start Explore", "find it"]],
	["@main @scout is a word here", ["main", "@scout is a word here"]],
])("%j is a message for an agent", (text, expected) => {
	expect(meant(text)).toEqual(expected);
});

test.each([
	["an unknown name", "@nobody find it"],
	["the beginning of an id", "@aaaa find it"],
	["a name without a message", "@scout"],
	["a name with nothing but space behind it", "@scout  \n "],
	["a name that ends with the line", "@scout\nfind it"],
	["a name inside the text", "ask @scout to find it"],
	["a path", "@src/scout find it"],
	["a file name", "@scout.md find it"],
	["a name with a dot, even of an agent", "@v1.2 go on"],
	["the name of an existing file", "@notes what do they say?"],
	["a quoted file", '@"scout" find it'],
	["no name", "@ scout find it"],
	["no mention", "find it"],
])("%s stays pi's", (_what, text) => {
	expect(mentionIn(text, known)).toBeUndefined();
});

test("an existing file wins over an agent, a preset and the session", () => {
	for (const text of ["@aaaa0001 x", "@scout x", "@main x"])
		expect(mentionIn(text, { ...known, isFile: () => true })).toBeUndefined();
});

test.each([
	["@scout find it", 'the preset "scout": delegate this to a sub-agent of that preset'],
	["@aaaa0001 go left", "the sub-agent scout aaaa0001 [running]: pass this on to it"],
	[
		"@left-door red",
		'the sub-agent scout "left-door" (aaaa0003) [waiting for you]: pass this on to it as the answer to its question',
	],
	["@painter again", 'the sub-agent scout "painter" (aaaa0005) [failed]: resume it with this'],
])("%j for the model says whom it addresses", (text, whom) => {
	const mention = mentionIn(text, known);
	if (!mention || mention.to === "main") throw new Error("no mention");
	expect(textForModel(text, mention)).toBe(`${text}\n\n(This message addresses ${whom}.)`);
});

describe("completion", () => {
	const presets = [
		preset(),
		preset({ name: "api.v2" }),
		preset({ name: "Explore", description: "Finds\u001b[31m things." }),
	];
	const items = (typed: string) => mentionItems(typed, { agents, presets }).map(({ value }) => value);

	test("active agents come first, then presets, finished agents and the session", () => {
		expect(items("")).toEqual([
			"@aaaa0001",
			"@left-door",
			"@aaaa0002",
			"@scout",
			"@Explore",
			"@aaaa0006",
			"@painter",
			"@Painter",
			"@main",
		]);
	});

	test("what was typed is the beginning of an id, a name or a preset", () => {
		expect([items("PA"), items("aaaa0003"), items("ex"), items("m"), items("zz")]).toEqual([
			["@painter", "@Painter"],
			["@left-door"],
			["@Explore"],
			["@main"],
			[],
		]);
	});

	test("each item says what sending it does, without control characters", () => {
		const described = mentionItems("e", { agents, presets }).map(({ description }) => description);
		expect(described).toEqual(["start: Finds things."]);
		expect(mentionItems("left", { agents, presets })[0]?.description).toBe(
			"waiting for you: scout, Find the launch code",
		);
	});

	const files: AutocompleteProvider = {
		triggerCharacters: ["#"],
		getSuggestions: async (lines, line, col) => ({
			items: [{ value: "@scouts.md", label: "scouts.md" }],
			prefix: (lines[line] ?? "").slice(0, col).split(" ").at(-1) ?? "",
		}),
		applyCompletion: (lines, cursorLine, cursorCol) => ({ lines: [...lines, "applied"], cursorLine, cursorCol }),
	};
	const wrapped = withMentions(files, async (typed) => (typed === "s" ? [{ value: "@scout", label: "@scout" }] : []));
	const suggested = async (...lines: string[]) => {
		const at = lines.length - 1;
		const { signal } = new AbortController();
		const found = await wrapped.getSuggestions(lines, at, lines[at]?.length ?? 0, { signal });
		return [found?.prefix, ...(found?.items ?? []).map(({ value }) => value)];
	};

	test("agents stand above the files that pi suggests, and only where they can be addressed", async () => {
		expect(await suggested("@s")).toEqual(["@s", "@scout", "@scouts.md"]);
		expect(await suggested("@x")).toEqual(["@x", "@scouts.md"]);
		expect(await suggested("ask @s")).toEqual(["@s", "@scouts.md"]);
		expect(await suggested("first", "@s")).toEqual(["@s", "@scouts.md"]);
		expect(await suggested("@s/")).toEqual(["@s/", "@scouts.md"]);
	});

	test("behind a name and a space nothing is suggested, or Enter would take a file; words are completed as ever", async () => {
		expect(await suggested("@scout ")).toEqual([undefined]);
		expect(await suggested("@scout Look again. ")).toEqual([undefined]);
		expect(await suggested("@scout Look at @sc")).toEqual(["@sc", "@scouts.md"]);
		expect(await suggested("ask ")).toHaveLength(2);
	});

	test("everything else stays as pi does it", () => {
		expect(wrapped.triggerCharacters).toEqual(["#"]);
		expect(wrapped.applyCompletion(["@s"], 0, 2, { value: "@scout", label: "" }, "@s").lines).toEqual([
			"@s",
			"applied",
		]);
		expect(wrapped.shouldTriggerFileCompletion?.(["@s"], 0, 2)).toBe(true);
	});
});
