import { expect, test } from "vitest";
import { type LaunchFacts, piArguments, promptText } from "../../../src/process/pi/arguments.ts";
import { runSpec } from "../../fixtures/process.ts";

const facts: LaunchFacts = {
	runDir: "/runs/a1",
	entries: ["/ours/child.js"],
	isProjectTrusted: false,
	extensions: [],
};

/** The values that follow this option. */
function valuesOf(args: readonly string[], option: string): string[] {
	return args.flatMap((arg, index) => (arg === option ? (args[index + 1] ?? []) : []));
}

test("a plain spec becomes a whole command line", () => {
	expect(piArguments(runSpec, facts)).toEqual([
		"--mode",
		"rpc",
		"--session",
		"/runs/a1/child-session.jsonl",
		"--model",
		"fake/one",
		"--tools",
		"read,ask_main_session",
		"--no-extensions",
		"--extension",
		"/ours/child.js",
		"--no-prompt-templates",
		"--no-themes",
		"--no-approve",
		"--append-system-prompt",
		"/runs/a1/system-prompt.md",
	]);
});

test("a child without tools can still ask", () => {
	expect(valuesOf(piArguments({ ...runSpec, tools: [] }, facts), "--tools")).toEqual(["ask_main_session"]);
});

test("a child from which every tool is withheld has none, rather than pi's usual ones", () => {
	const args = piArguments({ ...runSpec, tools: [], withheld: ["ask_main_session"] }, facts);
	expect(args).toContain("--no-tools");
	expect(args).not.toContain("--tools");
	const reading = piArguments({ ...runSpec, withheld: ["ask_main_session"] }, facts);
	expect(valuesOf(reading, "--tools")).toEqual(["read"]);
});

test("thinking, trust, extensions and skills are passed on", () => {
	const given = { ...facts, isProjectTrusted: true, extensions: ["/e/git.ts", "/e/x.ts"], skills: ["/s/SKILL.md"] };
	const args = piArguments({ ...runSpec, thinking: "high" }, given);
	expect(valuesOf(args, "--thinking")).toEqual(["high"]);
	expect(args).toContain("--approve");
	expect(args).not.toContain("--no-approve");
	expect(valuesOf(args, "--extension")).toEqual(["/ours/child.js", "/e/git.ts", "/e/x.ts"]);
	expect(args).toContain("--no-skills");
	expect(valuesOf(args, "--skill")).toEqual(["/s/SKILL.md"]);
});

test("no skills at all is not the same as all", () => {
	expect(piArguments(runSpec, { ...facts, skills: [] })).toContain("--no-skills");
	expect(piArguments(runSpec, facts)).not.toContain("--no-skills");
});

test("a prompt that is appended leaves what the user appends", () => {
	const spec = { ...runSpec, systemPrompt: { mode: "append", text: "You scout." } as const };
	const args = piArguments(spec, { ...facts, appendedPrompt: "/agent/APPEND_SYSTEM.md" });
	expect(valuesOf(args, "--append-system-prompt")).toEqual(["/agent/APPEND_SYSTEM.md", "/runs/a1/system-prompt.md"]);
	expect(promptText(spec)).toBe('You scout.\n\n<active_agent name="scout"/>');
});

test("a prompt that replaces pi's own does not append anything", () => {
	const spec = { ...runSpec, systemPrompt: { mode: "replace", text: "You scout." } as const };
	const args = piArguments(spec, { ...facts, appendedPrompt: "/agent/APPEND_SYSTEM.md" });
	expect(valuesOf(args, "--system-prompt")).toEqual(["/runs/a1/system-prompt.md"]);
	expect(valuesOf(args, "--append-system-prompt")).toEqual([]); // pi finds the user's by itself
	expect(promptText(spec)).toBe('You scout.\n\n<active_agent name="scout"/>');
});

test("a child without words of its own still says whose rules apply", () => {
	const spec = { ...runSpec, systemPrompt: { mode: "replace", text: " \n" } as const };
	expect(promptText(spec)).toBe('<active_agent name="scout"/>');
	expect(valuesOf(piArguments(spec, facts), "--system-prompt")).toEqual([]);
});
