/** How many agents may run, for how long, and what they may use. */
import { Type } from "typebox";
import { amount, choice, count, countOrCounts, MAX_DAYS } from "./kinds.ts";

export const limitSettings = {
	maxConcurrent: count({
		title: "Agents at once",
		description: "How many agents may run at the same time; 0 is no limit.",
		default: 8,
		limit: "smaller",
	}),
	maxPerProvider: countOrCounts({
		title: "Agents at once per provider",
		description: 'How many may run at the same time on each provider, or by name: `{ "anthropic": 4 }`; 0 is no limit.',
		default: 0,
		limit: "smaller",
	}),
	maxPerModel: countOrCounts({
		title: "Agents at once per model",
		description:
			'How many may run at the same time on each model, or by name: `{ "anthropic/claude-opus-4-5": 2 }`; 0 is no limit.',
		default: 0,
		limit: "smaller",
	}),
	whenFull: choice(
		{ queue: "it waits until another has settled", refuse: "the call fails with an error" },
		{
			title: "When all slots are taken",
			description: "What happens to a launch when no more agents may run.",
			default: "queue",
			limit: "none",
		},
	),
	maxDepth: Type.Integer({
		minimum: 1,
		maximum: 32,
		title: "Levels of agents",
		description: "How many levels of agents there may be; with 1, agents cannot launch agents.",
		default: 4,
		limit: "least",
	}),
	idleTimeoutMinutes: amount(MAX_DAYS * 24 * 60, {
		title: "Idle timeout (minutes)",
		description:
			"Stop an agent after this long without activity, unless its preset says otherwise (that of a project only: less); 0 is no limit.",
		default: 0,
		limit: "smaller",
	}),
	defaultMaxTurns: count({
		title: "Turns",
		description:
			"Ask an agent to finish after this many turns, unless its preset says otherwise (that of a project only: less); 0 is no limit.",
		default: 0,
		limit: "smaller",
	}),
	graceTurns: count({
		title: "Grace turns",
		description: "How many turns an agent has left once it was asked to finish.",
		default: 5,
		limit: "least",
	}),
	wrapUpPercent: Type.Number({
		minimum: 0,
		maximum: 50,
		title: "Kept for the answer (percent)",
		description:
			"How much of its time and budget an agent keeps for its answer: it is asked to finish that long, and at least one turn, before a limit ends the run; 0: it is not asked.",
		default: 10,
		limit: "none",
	}),
	budget: Type.Object(
		{
			session: Type.Object(
				{
					cost: amount(1_000_000, {
						title: "Cost in dollars",
						description: "How much the agents of a session may cost together, as the provider bills it; 0 is no limit.",
						default: 0,
						limit: "users",
					}),
					tokens: amount(1_000_000_000_000, {
						title: "Tokens",
						description:
							"How many tokens the agents of a session may use together: input, output, and what is written to and read from the cache; 0 is no limit.",
						default: 0,
						limit: "users",
					}),
					agents: count({
						title: "Agents",
						description: "How many agents may be launched in a session; 0 is no limit.",
						default: 0,
						limit: "users",
					}),
				},
				{
					title: "Budget of a session",
					description:
						"What the agents of one session may use together, over all its runs. Those that continue when pi is closed share what is left.",
				},
			),
		},
		{
			title: "Budget",
			description:
				"What agents may use. At 80 % you get a notice; at 100 % agents pause and ask you, or give their answers if there is no screen.",
		},
	),
	stalledAfterSeconds: amount(MAX_DAYS * 24 * 60 * 60, {
		title: "Stalled (seconds)",
		description: "After how long without activity an agent is shown as stalled; 0 is never.",
		default: 120,
		limit: "none",
	}),
};
