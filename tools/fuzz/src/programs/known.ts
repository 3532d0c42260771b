/**
 * Defects that programs have found and that are not fixed yet: the smallest program for each, and the part of the
 * language that is left out until then. A test fails when one of these programs passes, so that its row goes with the fix.
 */
import type { Language, Plan, Program } from "./program.ts";

export interface KnownDefect {
	what: string;
	/** How the error begins. */
	breaks: RegExp;
	/** The words of the language that lead to it; where several are named, only together. */
	words: readonly (keyof Language)[];
	program: Program;
}

const ANSWERS: Plan = { turns: [], endMs: 0, cleanupMs: 0 };

export const knownDefects: readonly KnownDefect[] = [
	{
		what: "a message is accepted and never read if the agent has answered and its run is still ending",
		breaks: /^messages: a1 accepted/,
		words: ["slowEnds"],
		program: {
			slots: 1,
			steps: [
				{ step: "user", does: "launch", plan: { ...ANSWERS, endMs: 1_000 } },
				{ step: "user", does: "steer", agent: 0 },
			],
		},
	},
	{
		what: "a branch that was left before the message with a result is never told that result",
		breaks: /^not told: the branch of .* launched a1/,
		words: ["rewinding"],
		program: {
			slots: 1,
			steps: [
				{ step: "user", does: "launch", plan: ANSWERS },
				{ step: "time", ms: 0 },
				{ step: "rewind", entry: 0 },
			],
		},
	},
	{
		what: "a background agent of an agent is stopped without a word when its parent has answered",
		breaks: /^cut off: stopped although no one asked for it/,
		words: ["nesting", "background"],
		program: {
			slots: 2,
			steps: [
				{
					step: "user",
					does: "launch",
					plan: {
						...ANSWERS,
						turns: [{ ms: 0, does: "child in background", child: { ...ANSWERS, turns: [{ ms: 100, does: "work" }] } }],
					},
				},
			],
		},
	},
	{
		what: "what agents of agents cost is not in the session's account after a restart",
		breaks: /^money: the account says 0\.02, the models' log 0\.03/,
		words: ["nesting", "restarting"],
		program: {
			slots: 1,
			steps: [
				{ step: "user", does: "launch", plan: { ...ANSWERS, turns: [{ ms: 0, does: "child", child: ANSWERS }] } },
				{ step: "time", ms: 1_000 },
				{ step: "reload" },
			],
		},
	},
];

const NOTHING: Language = {
	slowEnds: false,
	nesting: false,
	background: false,
	rewinding: false,
	forking: false,
	restarting: false,
};

/** The largest languages without a known defect, by what their programs are about. */
export const languages: Readonly<Record<string, Language>> = {
	"agents that launch agents": { ...NOTHING, nesting: true },
	"sessions that are left and opened again": { ...NOTHING, forking: true, restarting: true },
};
