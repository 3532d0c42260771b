/** `/agents` › Presets: looking, ejecting, editing, switching off, creating. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileIn } from "../../src/menu/presets/preset-by-agent.ts";
import { nameFault } from "../../src/menu/presets/preset-file.ts";
import { type Step, type World, world } from "./fixture.ts";

const presets = { choose: "presets" } as const;
const file = (name: string, fields = "", body = `You are ${name}.`) =>
	`---\nname: ${name}\ndescription: ${name} of the test\nmodel: inherit\n${fields}---\n${body}\n`;
const listOf = async (it: World) => (await it.runMenu(presets))[1]?.split("\n")[1]?.split(" | ") ?? [];

test("the list tells where each comes from, which are off, and which files cannot be used", async () => {
	await using it = await world();
	await it.write("project/.pi/subagents/mine.md", file("mine", "enabled: false\n"));
	await it.write("project/.pi/subagents/worker.md", "---\nname: worker\ndescription: x\ntools: {a: b}\n---\n");
	await it.write("agent/agents/own.md", "You are own.");
	await it.write(
		"agent/subagents.json",
		'{ "agentOverrides": { "Plan": { "enabled": false }, "scout": { "tools": 1 } } }',
	);
	expect(await listOf(it)).toEqual([
		"● Explore built-in",
		"● general-purpose built-in",
		"○ mine project, off",
		"● own global",
		"○ Plan built-in, off",
		"● planner built-in",
		"● reviewer built-in",
		"! scout built-in",
		"✗ worker not used",
		"+ New preset",
		"+ Describe a preset",
	]);
});

test("a preset can be read whole, and what cannot be explained is said", async () => {
	await using it = await world();
	const shown = await it.runMenu(presets, { choose: "Explore" }, { choose: "View" }, { choose: "Explain" });
	const page = shown.find((each) => each.startsWith("Agents › Presets › Explore\nPreset Explore")) ?? "";
	expect(page).toMatch(/source +builtin/);
	expect(page).toContain("they are not repeated."); // the last words of its prompt
	expect(shown.filter((each) => each.startsWith("error: "))).toHaveLength(1); // here is no model to ask for its prompt
});

test("a built-in is ejected to where the person says, used from then on, and never written twice", async () => {
	await using it = await world();
	const eject = [presets, { choose: "Explore" }, { choose: "Make it yours" }] as const;
	const shown = await it.runMenu(...eject, { choose: "All my projects" });
	const path = join(it.agentDir, "subagents/Explore.md");
	expect(shown).toContain(`info: Wrote ${path}. It is now in use.`);
	expect(shown.at(-3)).toMatch(/Explain \| Edit \| Copy under a new name \| Switch off \| Delete my copy$/); // it is one's own now
	expect(await it.read("agent/subagents/Explore.md")).toMatch(/^---\nname: Explore\n[\s\S]*\nmodel: inherit\n---\n/);

	await it.write("project/.pi/subagents/Plan.md", "kept");
	await it.write("agent/subagents.json", '{ "projectPresets": "off" }');
	const again = await it.runMenu(presets, { choose: "Plan" }, { choose: "Make it yours" }, { choose: "This project" });
	expect(again).toContain(`error: ${join(it.cwd, ".pi/subagents/Plan.md")} already exists; it was not changed.`);
	expect(await it.read("project/.pi/subagents/Plan.md")).toBe("kept");
	const unused = await it.runMenu(
		presets,
		{ choose: "worker" },
		{ choose: "Make it yours" },
		{ choose: "This project" },
	);
	expect(unused).toContainEqual(
		expect.stringMatching(/^warning: Wrote .*but it is not used: your settings exclude project presets\./),
	);
	expect(await readdir(join(it.cwd, ".pi/subagents"))).toEqual(["Plan.md", "worker.md"]);
});

test("a copy is not answered with a warning that it replaces what it is a copy of", async () => {
	await using it = await world();
	const copied = [presets, { choose: "Explore" }, { choose: "Make it yours" }, { choose: "This project" }] as const;
	expect(await it.runMenu(...copied)).toContainEqual(expect.stringMatching(/^info: Wrote .*It is now in use\.$/));
	expect(it.told).toEqual([]);
	await it.write("project/.pi/subagents/Plan.md", file("Plan")); // not by the user's hand, as far as we know
	await it.runMenu(presets);
	expect(it.told).toEqual([expect.stringContaining('This project\'s preset "Plan" replaces the one you had')]);
});

test("no message says of one file both that it is not used and that a field of it is ignored", async () => {
	await using it = await world();
	const thinking = "thinking: hihg\n";
	await it.write("agent/subagents/mine.md", file("mine", thinking)); // replaced by the project's
	await it.write("project/.pi/subagents/mine.md", file("mine", thinking));
	await it.write("project/.pi/subagents/worker.md", file("worker", `${thinking}tools: {a: b}\n`));
	expect(await listOf(it)).toEqual(expect.arrayContaining(["● mine project", "✗ worker not used"]));
	expect(await listOf(it)).not.toContain("✗ mine not used");
	expect(it.told.filter((notice) => /^Preset.*mine\.md/.test(notice))).toEqual([
		expect.stringMatching(/^Preset: .*agent.*mine\.md:5: "thinking" must be .*; the field is ignored$/),
		expect.stringMatching(/^Preset: .*project.*mine\.md:5: "thinking" must be .*; the field is ignored$/),
	]);
	const broken = it.told.filter((notice) => notice.includes("worker.md")).join("\n");
	expect(broken).toMatch(/Preset not used: .*worker\.md:5: "thinking" must be .*/);
	expect(broken).not.toContain("ignored");
	const typo = { edit: (text: string) => text.replace("hihg", "lwo") };
	const shown = await it.runMenu(presets, { choose: "mine" }, { choose: "Edit" }, typo, { choose: "Save it as it is" });
	expect(shown).toContainEqual(
		expect.stringMatching(
			/^Parts of this preset would be ignored\nline 5: "thinking" must be .*; the field is ignored/,
		),
	);
});

test("a new file of the project goes beside those that are there, in a directory further up", async () => {
	await using it = await world();
	await it.write(".pi/subagents/above.md", file("above"));
	await it.runMenu(presets, { choose: "scout" }, { choose: "Make it yours" }, { choose: "This project" });
	expect(await it.read(".pi/subagents/scout.md")).toMatch(/^---\nname: scout\n/);
});

test("switching off is a word in the user's settings; the file, and what else is said there, stay", async () => {
	await using it = await world();
	const settings = '{\n\t"agentOverrides": {\n\t\t"explore": {\n\t\t\t"model": "fake/one"\n\t\t}\n\t}\n}\n';
	await it.write("agent/subagents.json", settings);
	const shown = await it.runMenu(presets, { choose: "Explore" }, { choose: "Switch off" });
	expect(shown).toContain('info: Preset "Explore" is switched off.');
	expect(JSON.parse(await it.read("agent/subagents.json"))).toEqual({
		agentOverrides: { explore: { model: "fake/one", enabled: false } },
	});
	await it.runMenu(presets, { choose: "Explore" }, { choose: "Switch on" });
	expect(await it.read("agent/subagents.json")).toBe(settings);
});

test("one that its file switches off can be switched on, and pi's own settings file is overruled", async () => {
	await using it = await world();
	await it.write("project/.pi/subagents/mine.md", file("mine", "enabled: false\n"));
	await it.write(
		"agent/settings.json",
		'{ "subagents": { "agentOverrides": { "Plan": { "enabled": false, "thinking": "high" } } } }',
	);
	await it.runMenu(presets, { choose: "mine" }, { choose: "Switch on" });
	await it.runMenu(presets, { choose: "Plan" }, { choose: "Switch on" });
	expect(JSON.parse(await it.read("agent/subagents.json"))).toEqual({
		agentOverrides: { mine: { enabled: true }, Plan: { enabled: true } },
	});
	expect(await listOf(it)).toEqual(expect.arrayContaining(["● mine project", "● Plan built-in"]));
	expect(await it.read("project/.pi/subagents/mine.md")).toContain("enabled: false");
});

test("where the project's settings say otherwise, that is told", async () => {
	await using it = await world({ trust: "yes" });
	await it.write("project/.pi/subagents.json", '{ "agentOverrides": { "Explore": { "enabled": false } } }');
	const shown = await it.runMenu(presets, { choose: "Explore" }, { choose: "Switch on" });
	expect(shown).toContainEqual(expect.stringMatching(/^warning: .*this project's settings override it/));
});

test("an edit is checked, corrected without being typed again, and saved whole", async () => {
	await using it = await world();
	await it.write("project/.pi/subagents/mine.md", file("mine"));
	const edit = [presets, { choose: "mine" }, { choose: "Edit" }] as const;
	const faulty = (text: string) => text.replace("model: inherit", "tools: {a: b}").trimEnd();
	const shown = await it.runMenu(
		...edit,
		{ edit: faulty },
		{ choose: "Edit it again" },
		{ edit: (text) => text.replace("tools: {a: b}", "tools: raed\nmodel: inherit") },
	);
	expect(shown).toContainEqual(
		expect.stringMatching(
			/^This preset cannot be used as it is\nline 4: "tools" must be .*\nEdit it again \| Save it as it is/s,
		),
	);
	expect(shown).toContainEqual(expect.stringMatching(/^warning: Saved .*mine\.md\.\n- line 4: unknown tool "raed"/));
	expect(await it.read("project/.pi/subagents/mine.md")).toBe(
		file("mine").replace("model: inherit", "tools: raed\nmodel: inherit"),
	);
	expect(await it.runMenu(...edit, { edit: (text) => text.trim() })).toContain("info: Nothing was changed.");
});

test("a file with mistakes can be saved as it is, and mended from the list", async () => {
	await using it = await world();
	await it.write("project/.pi/subagents/mine.md", file("mine"));
	const faulty = { edit: (text: string) => text.replace("model: inherit", "tools: {a: b}") };
	await it.runMenu(presets, { choose: "mine" }, { choose: "Edit" }, faulty, { choose: "Save it as it is" });
	expect(await listOf(it)).toContain("✗ mine not used");
	const mended = { edit: (text: string) => text.replace("tools: {a: b}", "model: inherit") };
	await it.runMenu(presets, { choose: "mine" }, mended);
	expect(await listOf(it)).toContain("● mine project");
});

test("what somebody else writes meanwhile is not overwritten", async () => {
	await using it = await world();
	const path = "project/.pi/subagents/mine.md";
	await it.write(path, file("mine"));
	const shown = await it.runMenu(
		presets,
		{ choose: "mine" },
		{ choose: "Edit" },
		() => it.write(path, file("mine", "thinking: low\n")),
		{
			edit: (text) => `${text}More.`,
		},
	);
	expect(shown).toContainEqual(expect.stringMatching(/^error: .* was changed by another program in the meantime/));
	expect(await it.read(path)).toBe(file("mine", "thinking: low\n"));
});

test("the wizard makes a preset step by step, and Escape goes one step back", async () => {
	await using it = await world();
	const shown = await it.runMenu(
		presets,
		{ choose: "New preset" },
		{ type: "../evil" },
		{ type: "EXPLORE" },
		{ type: "nul" },
		{ type: "api-reviewer" },
		"back", // from the description to the name, which is still there
		{ type: "api-reviewer" },
		{ type: "Reviews HTTP handlers: choose it before a release" },
		{ choose: "Read only" },
		{ choose: "The session's" },
		{ edit: (text) => `${text}Report path:line.` },
		{ choose: "Write the file" },
		"back", // from the place to the summary
		{ choose: "Write the file" },
		{ choose: "This project" },
	);
	const faults = shown.flatMap((each) => /! (.*)/.exec(each)?.[1] ?? []);
	expect(faults).toEqual([
		expect.stringMatching(/the name "\.\.\/evil" is not allowed/),
		'a preset "EXPLORE" already exists: choose another name',
		'"nul" is not a valid file name on every system: choose another',
	]);
	expect(shown).toContainEqual(expect.stringMatching(/^Agents › Presets › New › Name\n.*\n> api-reviewer$/));
	expect(await it.read("project/.pi/subagents/api-reviewer.md")).toBe(`---
name: api-reviewer
description: "Reviews HTTP handlers: choose it before a release"
model: inherit
tools: read, grep, find, ls
---
You are api-reviewer. Report path:line.
`);
	expect(await listOf(it)).toContain("● api-reviewer project");
});

test("leaving the wizard writes nothing", async () => {
	await using it = await world();
	await it.runMenu(
		presets,
		{ choose: "New preset" },
		{ type: "one" },
		{ type: "d" },
		{ choose: "All" },
		"back",
		"back",
		"back",
		"back",
	);
	expect(await readdir(it.cwd)).toEqual([]);
});

const drafted = (name: string, fields = "") => `Sure!\n\n\`\`\`markdown\n${file(name, fields)}\`\`\`\nAnything else?`;

async function describe(it: World, answer: string, ...steps: readonly Step[]) {
	const before = it.runner.runs.length;
	const walking = it.runMenu(presets, { choose: "Describe a preset" }, { type: "Review handlers" }, ...steps);
	await expect.poll(() => it.runner.runs.length).toBeGreaterThan(before);
	it.runner.runs.at(-1)?.answer(answer);
	return walking;
}

test("an agent writes a preset from a description; it is seen, and only then written", async () => {
	await using it = await world();
	const shown = await describe(
		it,
		drafted("handler-check"),
		{ edit: (text) => `${text}\nBe brief.` },
		{ choose: "All my projects" },
	);
	const [run] = it.runner.runs;
	expect(run?.spec).toMatchObject({ tools: ["read", "grep", "find", "ls"], extensions: false, skills: false });
	expect(run?.spec).not.toHaveProperty("subagents");
	expect(run?.spec.task).toContain("<wish>\nReview handlers\n</wish>");
	expect(shown).toContainEqual(expect.stringMatching(/review, edit and accept it\n---\nname: handler-check\n/));
	expect(await it.read("agent/subagents/handler-check.md")).toBe(`${file("handler-check")}Be brief.\n`);
});

test("what it returns is never written unseen, nor under a taken name, nor with mistakes", async () => {
	await using it = await world();
	expect(await describe(it, drafted("handler-check"), "back")).toContain("info: Nothing was written.");
	const same = { edit: (text: string) => text };
	const taken = await describe(it, drafted("Explore"), same, { choose: "Discard the text" });
	expect(taken).toContainEqual(expect.stringMatching(/cannot be used as it is\na preset "Explore" already exists/));
	const faulty = await describe(it, drafted("other", "disallowed_tools: raed\n"), same, { choose: "discard" });
	expect(faulty).toContainEqual(expect.stringMatching(/cannot be used as it is\n.*unknown tool "raed"/));
	const nameless = await describe(it, "I could not do it.", same, { choose: "discard" });
	expect(nameless).toContainEqual(
		expect.stringMatching(/cannot be used as it is\nline 1: the file has no frontmatter/),
	);
	expect((await readdir(it.agentDir)).filter((name) => name !== "state")).toEqual([]);
	expect(await readdir(join(it.cwd, ".pi", "subagents"))).toEqual(["runs"]); // of the agents that wrote them
});

test("its questions are left to itself, since the person waits for it", async () => {
	await using it = await world();
	const walking = it.runMenu(presets, { choose: "Describe a preset" }, { type: "Review handlers" });
	await expect.poll(() => it.runner.runs.length).toBe(1);
	expect(await it.manager.ask("agent1", { question: "Which language?", defaultAnswer: "any" })).toMatchObject({
		text: "any",
	});
	it.runner.runs[0]?.settle({ status: "failed", error: "no luck" });
	expect(await walking).toContainEqual("error: No preset was written. Failed: no luck.");
});

test.each([
	["the block alone", "```markdown\n---\nname: x\n---\nBody\n```", "---\nname: x\n---\nBody"],
	[
		"a block with blocks in it",
		"Hi\n````md\n---\nname: x\n---\n```sh\nls\n```\n````\nBye",
		"---\nname: x\n---\n```sh\nls\n```",
	],
	["the same fence inside", "```\n---\nname: x\n---\n```sh\nls\n```\n```", "---\nname: x\n---\n```sh\nls\n```"],
	["no block", "Here:\n---\nname: x\n---\nBody", "---\nname: x\n---\nBody"],
	["a block that does not end", "```markdown\n---\nname: x\n---\nBody", "---\nname: x\n---\nBody"],
	["nothing of the kind", "I could not.", "I could not."],
])("the file is found in an answer: %s", (_what, answer, expected) => {
	expect(fileIn(answer)).toBe(expected);
});

test("a preset is run on a task, for the user; one that is off is not offered to run", async () => {
	await using it = await world();
	const shown = await it.runMenu(presets, { choose: "Explore" }, { choose: "Run" }, { type: "Find it." });
	expect(shown).toContain("info: Explore agent1 has started; the result will appear here.");
	expect(it.manager.store.record("agent1")).toMatchObject({ task: "Find it.", launchedBy: "user", isBackground: true });
	await it.write("agent/subagents.json", '{ "agentOverrides": { "Explore": { "enabled": false } } }');
	const off = await it.runMenu(presets, { choose: "Explore" });
	expect(off[2]).toMatch(/\nView \|/);
});

test("a preset is copied under a new name, and both can be used", async () => {
	await using it = await world();
	const shown = await it.runMenu(
		presets,
		{ choose: "Explore" },
		{ choose: "Copy under a new name" },
		{ type: "Plan" },
		{ type: "my-explorer" },
		{ choose: "All my projects" },
	);
	const path = join(it.agentDir, "subagents/my-explorer.md");
	expect(shown).toContainEqual(expect.stringContaining('! a preset "Plan" already exists: choose another name'));
	expect(shown).toContain(`info: Wrote ${path}. It is now in use.`);
	expect(await it.read("agent/subagents/my-explorer.md")).toMatch(
		/^---\nname: my-explorer\n[\s\S]*they are not repeated\.\n$/,
	);
	expect(await listOf(it)).toEqual(expect.arrayContaining(["● Explore built-in", "● my-explorer global"]));
});

test("a copy is deleted after a yes, and what it replaced is used again", async () => {
	await using it = await world();
	await it.runMenu(presets, { choose: "Explore" }, { choose: "Make it yours" }, { choose: "All my projects" });
	const path = join(it.agentDir, "subagents/Explore.md");
	const way = [presets, { choose: "Explore" }, { choose: "Delete my copy" }] as const;
	const kept = await it.runMenu(...way, { say: "no" });
	expect(kept).toContain(`Delete Explore?\n${path} will be deleted. This cannot be undone.`);
	expect(await listOf(it)).toContain("● Explore global");
	expect(await it.runMenu(...way, { say: "yes" })).toContain(
		`info: Deleted ${path}. The built-in preset is used again.`,
	);
	expect(await listOf(it)).toContain("● Explore built-in");

	await it.write("project/.pi/subagents/mine.md", file("mine"));
	const gone = await it.runMenu(presets, { choose: "mine" }, { choose: "Delete my copy" }, { say: "yes" });
	expect(gone.at(-2)).toMatch(/^Agents › Presets\n/); // its own level is gone with it
	expect(gone.filter((each) => each.startsWith("error"))).toEqual([]);
});

test("a name that cannot be used is refused without the line of a file, since there is none yet", async () => {
	expect(await nameFault("my scout", [])).toMatch(/^the name "my scout" is not allowed: /);
	expect(await nameFault("my-scout", [])).toBeUndefined();
});
