/** Whatever a conversation holds, the screen is whole: every line as wide as it is, and nothing in it that acts on a terminal. */
import { isFullRun } from "@pi-subagents-dev/testkit/full-run";
import { patienceMs } from "@pi-subagents-dev/testkit/wait";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ConversationEntry } from "../../src/index.ts";
import { KEYS, MemorySource, misfits, show } from "./fixture.ts";

const nasty = fc.constantFrom(
	"\u001b[31mred\u001b[0m",
	"\u001b]0;title\u0007",
	"\u001b]8;;http://x\u0007link\u001b]8;;\u0007",
	"\u001b[2J",
	"\u009b31m",
	"\u0000",
	"\u0007",
	"\u202eevil\u202c",
	"\t",
	"\r\n",
	"\u2028",
	"漢字かな",
	"👩‍👩‍👧‍👦",
	"🇩🇪",
	"é́́",
	"\ud800",
	"שלום",
	"| a | b |\n|---|---|\n| 1 | 2 |\n",
	"```js\nlet x;\n```\n",
	"# Head\n\n- one\n  - two\n\n> quoted\n\n[a](http://b.c)\n\n---\n",
	"$HOME and $x^2$ and \\(a\\)",
	"x".repeat(500),
	"\u001b_pi:c\u0007",
);

const text = fc
	.array(fc.oneof(nasty, fc.string({ unit: "binary", maxLength: 20 }), fc.lorem()), { maxLength: 6 })
	.map((parts) => parts.join(" "));

const part = fc.oneof(
	fc.record({ type: fc.constant("text"), text }),
	fc.record({ type: fc.constant("thinking"), thinking: text }),
	fc.record({
		type: fc.constant("toolCall"),
		id: fc.string(),
		name: fc.oneof(text, fc.constantFrom("read", "bash")),
		arguments: fc.oneof(fc.dictionary(text, fc.jsonValue()), fc.jsonValue()),
	}),
	fc.record({ type: fc.constant("image"), mimeType: text, data: fc.string() }),
	fc.jsonValue(),
);

const message = fc.oneof(
	fc.record({ role: fc.constant("user"), content: fc.oneof(text, fc.array(part, { maxLength: 3 })) }),
	fc.record({
		role: fc.constant("assistant"),
		content: fc.array(part, { maxLength: 4 }),
		stopReason: fc.constantFrom("stop", "error", "aborted", "toolUse"),
		errorMessage: text,
	}),
	fc.record({
		role: fc.constant("toolResult"),
		toolCallId: fc.string(),
		toolName: fc.oneof(text, fc.constant("bash")),
		content: fc.oneof(fc.array(part, { maxLength: 3 }), fc.jsonValue()),
		isError: fc.oneof(fc.boolean(), fc.jsonValue()),
	}),
	fc.record({
		role: fc.constantFrom("system", "custom", "bashExecution", "nobody"),
		content: fc.oneof(text, fc.jsonValue()),
		customType: text,
		sections: fc.jsonValue(),
	}),
	fc.dictionary(fc.string(), fc.jsonValue()),
);

const entry = fc.oneof(
	fc.record({ type: fc.constant("message"), message }),
	fc.record({ type: fc.constant("compaction"), summary: text }),
	fc.record({ type: fc.constant("unreadable"), bytes: fc.nat() }),
	fc.record({ type: fc.constant("progress"), text }),
	fc.record({
		type: fc.constant("check"),
		line: fc.oneof(text, fc.jsonValue()),
		output: fc.oneof(text, fc.jsonValue()),
	}),
	fc.jsonValue(),
) as fc.Arbitrary<ConversationEntry>;

const key = fc.constantFrom(
	...Object.values(KEYS),
	"k",
	"j",
	"u",
	"d",
	"g",
	"G",
	"t",
	"/",
	"a",
	"s",
	"x",
	"y",
	"o",
	"n",
	"N",
	"?",
	"\u001b[200~pasted\u001b[31m\u001b[201~",
	"é",
	"漢",
	"\u0000",
);

describe("the screen", () => {
	test(
		"is whole for every conversation, width, height and sequence of keys",
		async () => {
			const given = fc.record({
				entries: fc.array(entry, { maxLength: 12 }),
				width: fc.integer({ min: 1, max: 300 }),
				height: fc.integer({ min: 1, max: 60 }),
				keys: fc.array(key, { maxLength: 8 }),
				question: fc.option(text, { nil: undefined }),
				isLive: fc.boolean(),
			});
			await fc.assert(
				fc.asyncProperty(given, async ({ entries, width, height, keys, question, isLive }) => {
					const shown = await show(new MemorySource(entries), {
						width,
						height,
						isLive: () => isLive,
						head: (room) => ["─".repeat(room), "x"],
						question: () => (question === undefined ? undefined : { text: question }),
						relatives: () => [{ id: "p", relation: "parent", label: question ?? "p" }],
						actions: {
							steer: () => question,
							stop: () => question,
							answer: () => question,
							copyPath: () => question,
							open: () => question,
						},
					});
					for (const pressed of ["", ...keys]) {
						if (pressed !== "") shown.viewer.handleInput(pressed);
						await shown.settled();
						const frame = shown.viewer.render(width);
						expect(misfits(frame, width, height)).toEqual([]);
						expect(shown.viewer.render(width)).toEqual(frame);
					}
				}),
				{ numRuns: isFullRun ? 150 : 40 },
			);
		},
		patienceMs(8),
	);

	test(
		"is whole at every width from 1 to 300",
		async () => {
			const [entries = []] = fc.sample(fc.array(entry, { minLength: 30, maxLength: 30 }), { numRuns: 1, seed: 7 });
			const source = new MemorySource(entries);
			for (let width = 1; width <= 300; width += isFullRun || width < 40 ? 1 : 10) {
				const shown = await show(source, { width, height: 40 });
				await shown.press(KEYS.enter, "t", KEYS.home);
				expect([width, misfits(shown.viewer.render(width), width, 40)]).toEqual([width, []]);
				shown.viewer.dispose();
			}
		},
		patienceMs(8),
	);
});
