import { describe, expect, test } from "vitest";
import { called, KEYS, lines, MemorySource, plainTheme, result, said, show, thought, told } from "./fixture.ts";

const theme = {
	...plainTheme,
	match: (text: string) => text.replace(/./g, "m"),
	currentMatch: (text: string) => text.replace(/./g, "C"),
};

const type = (text: string) => ["/", ...text, KEYS.enter];

const talk = () =>
	new MemorySource([
		told("Look for the needle."),
		...Array.from({ length: 200 }, (_, index) => said(`Hay ${index + 1}`)),
		said("A needle, and another needle."),
		...Array.from({ length: 200 }, (_, index) => said(`More hay ${index + 1}`)),
		thought(`${lines(5)}\nthe needle is thought of\n${lines(5)}`, "Hm."),
		called(["1", "bash", { command: "find" }]),
		result("1", "bash", `${lines(30)}\nneedle in the output\n${lines(30)}`),
		said("The end."),
	]);

describe("the search", () => {
	test("goes from match to match, around the end, and back", async () => {
		const shown = await show(talk(), { theme, width: 80, height: 24 });
		await shown.press(KEYS.home, ...type("needle"));
		expect(shown.body().join("\n")).toContain("▌ Look for the CCCCCC.");
		await shown.press("n");
		expect(shown.body().join("\n")).toContain("A CCCCCC, and another mmmmmm.");
		await shown.press("n");
		expect(shown.body().join("\n")).toContain("A mmmmmm, and another CCCCCC.");
		await shown.press("n");
		expect(shown.body().join("\n")).toContain("the CCCCCC is thought of");
		await shown.press("n");
		expect(shown.body().join("\n")).toContain("CCCCCC in the output");
		await shown.press("n");
		expect(shown.body().join("\n")).toContain("▌ Look for the CCCCCC.");
		await shown.press("N");
		expect(shown.body().join("\n")).toContain("CCCCCC in the output");
		await shown.press("N", "N", "N");
		expect(shown.body().join("\n")).toContain("A CCCCCC, and another mmmmmm.");
	});

	test("says which match it is of how many, also of those that are folded away or come later", async () => {
		const source = talk();
		const shown = await show(source, { theme, width: 80, height: 24 });
		await shown.press(KEYS.home, ...type("needle"));
		while (!shown.status().includes("1/")) await shown.settled(); // the count follows when all has been read
		const places = [shown.status()];
		for (const key of ["n", "n", "n", "n", "n", "N"]) {
			await shown.press(key);
			places.push(shown.status());
		}
		expect(places.map((status) => /\d+\/\d+/.exec(status)?.[0])).toEqual([
			"1/5",
			"2/5",
			"3/5",
			"4/5",
			"5/5",
			"1/5",
			"5/5",
		]);
		source.push(said("One more needle."));
		await shown.press("n");
		expect(shown.status()).toContain("6/6");
		await shown.press(KEYS.escape);
		expect(shown.status()).not.toContain("6/6");
	});

	test("does not read a long conversation to its end only to count", async () => {
		const source = new MemorySource({ length: 50_000, at: (index) => said(`Hay ${index}`) });
		const shown = await show(source, { theme, width: 80, height: 24 });
		await shown.press(KEYS.home);
		source.entriesRead = 0;
		await shown.press(...type("Hay 7"));
		expect([source.entriesRead < 300, /\d+\/\d+/.test(shown.status())]).toEqual([true, false]);
	});

	test("begins at the screen when the last match has been left", async () => {
		const shown = await show(talk(), { theme, width: 80, height: 24 });
		await shown.press(KEYS.home, ...type("needle"), KEYS.end, "N");
		expect(shown.body().join("\n")).toContain("CCCCCC in the output");
	});

	test("unfolds only where it finds something that is folded away", async () => {
		const source = new MemorySource([
			called(["1", "read", { path: "a" }]),
			result("1", "read", lines(20)),
			called(["2", "read", { path: "b" }]),
			result("2", "read", `${lines(20)}\nneedle`),
		]);
		const shown = await show(source, { theme, width: 80, height: 50 });
		await shown.press(...type("needle"));
		const body = shown.body().join("\n");
		expect(body).toContain("● Reading a\n  ⎿ line 1\n    line 2\n    line 3\n    line 4\n    … 16 more lines");
		expect(body).toContain("line 20\n    CCCCCC");
	});

	test("heeds capital letters if there are any, and finds text across lines", async () => {
		const source = new MemorySource([
			said("The Needle is here, at the end of a line that is wrapped in the middle of it."),
		]);
		const shown = await show(source, { theme, width: 44, height: 20 });
		await shown.press(...type("THE NEEDLE"));
		expect(shown.status()).toContain("not found");
		await shown.press(...type("the needle"));
		expect(shown.body().join("\n")).toContain("CCC CCCCCC is here".replace("CCC C", "CCCCC"));
		await shown.press(...type("line that is wrapped in"));
		expect(shown.body().join("\n").match(/C/g)?.length).toBeGreaterThan(18);
	});

	test("takes what was typed as it is, not as an expression", async () => {
		const shown = await show(new MemorySource([said("f(x) costs $5.00 [1] a\\b")]), { theme });
		for (const text of ["f(x)", "$5.00", "[1]", "a\\b"]) {
			await shown.press(...type(text));
			expect([text, shown.body().join("\n").includes("C".repeat(text.length))]).toEqual([text, true]);
		}
		await shown.press(...type("f.x"));
		expect(shown.status()).toContain("not found");
	});

	test("keeps the colours of the text around a match", async () => {
		const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
		const paint = (text: string) => `\u001b[7m${text}\u001b[27m`;
		const shown = await show(new MemorySource([told("a needle here")]), {
			theme: { ...plainTheme, userText: red, currentMatch: paint },
		});
		await shown.press(...type("needle"));
		expect(shown.viewer.render(60).join("\n")).toContain(
			"\u001b[31ma \u001b[7mneedle\u001b[27m\u001b[31m here\u001b[39m",
		);
	});

	test("escape ends the search, and then the viewer", async () => {
		const shown = await show(talk(), { theme, width: 80, height: 24 });
		await shown.press(KEYS.home, ...type("needle"));
		expect(shown.hints()).toContain("esc end search");
		await shown.press(KEYS.escape);
		expect([shown.isClosed(), shown.body().join("\n").includes("Look for the needle.")]).toEqual([false, true]);
		await shown.press("/", "x", KEYS.escape);
		expect([shown.isClosed(), shown.hints().includes("/ search")]).toEqual([false, true]);
		await shown.press(KEYS.escape);
		expect(shown.isClosed()).toBe(true);
	});
});
