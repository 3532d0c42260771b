/** What happens to the results of agents, and to agents when the user interrupts the turn. */
import { choice } from "./kinds.ts";

export const resultSettings = {
	join: choice(
		{
			smart: "together when all have settled; failures, and results that have waited long, at once",
			async: "each when it settles",
			group: "together when all have settled",
		},
		{
			title: "Join results",
			description: "How the results of agents launched in one turn are delivered.",
			default: "smart",
			limit: "none",
		},
	),
	notify: choice(
		{
			turn: "the model takes a turn to act on it",
			message: "it is shown, and the model reads it in its next turn",
			off: "nothing; the result can be read with a tool",
		},
		{
			title: "When an agent settles",
			description:
				"What happens when a background agent settles while pi is idle. An agent that you started yourself never starts a turn.",
			default: "turn",
			limit: "none",
		},
	),
	interrupt: choice(
		{
			foreground: "those that the turn waits for; background agents continue",
			all: "every agent of the session",
			none: "none; those that the turn waits for continue in the background",
		},
		{
			title: "Escape stops",
			description: "Which agents are stopped when you interrupt the turn with Escape.",
			default: "foreground",
			limit: "none",
		},
	),
};
