/** Between the user and agents: keys, messages, notifications, hooks, the tree, and how long pi waits before it ends. */
import { Type } from "typebox";
import { type About, amount, choice, MAX_DAYS, names, severalOf } from "./kinds.ts";

/** A key of pi's editor. pi reads the keys when a session starts. */
const shortcut = ({ description, ...about }: About<string>) =>
	Type.String({
		maxLength: 20,
		pattern: "^(?:|f(?:[1-9]|1[0-2])|(?:shift\\+)?(?:ctrl|alt|ctrl\\+alt)\\+(?:shift\\+)?[a-z0-9])$",
		description: `${description} A change counts from the next start or \`/reload\`.`,
		...about,
	});

export const userSettings = {
	agentsKey: shortcut({
		title: "Key for the agents",
		description: "The key that opens the list of agents, such as `alt+a`, `ctrl+alt+s` or `f6`; empty: none.",
		default: "alt+a",
		limit: "none",
	}),
	resultsKey: shortcut({
		title: "Key for results",
		description:
			"The key that delivers results held back by an interrupt, or resumes the agents that ended with the last pi; empty: none.",
		default: "alt+r",
		limit: "none",
	}),
	mentions: choice(
		{
			direct: "it goes to that agent, or starts one, without a model turn",
			model: "the model gets it, with a note saying whom it addresses",
			off: "nothing; the model gets it as it is",
		},
		{
			title: "Messages to @name",
			description: "What happens to a message that begins with `@` and the id or name of an agent, or a preset.",
			default: "direct",
			limit: "none",
		},
	),
	notifications: Type.Object(
		{
			on: severalOf(
				{
					question: "an agent waits for your answer",
					failed: "an agent has failed, or was stopped by a limit",
					done: "an agent is done",
				},
				{ title: "About", description: "What you are notified of.", default: [], limit: "none" },
			),
			minSeconds: amount(MAX_DAYS * 24 * 60 * 60, {
				title: "From (seconds)",
				description: "Only about runs that took at least this long, and questions that have waited this long.",
				default: 30,
				limit: "none",
			}),
			via: choice(
				{
					osc: "the terminal shows a notification, if it can",
					bell: "the terminal rings",
					command: "`command` is started",
				},
				{ title: "Via", description: "How notifications reach you.", default: "osc", limit: "none" },
			),
			command: names({
				title: "Command",
				description:
					'A program and its arguments, such as `["notify-my-phone", "--quiet"]`: started without a shell in your home directory, with the notification as JSON on its input. Agents that continue after you quit use only this, whatever `via` says.',
				default: [],
				limit: "none",
			}),
		},
		{ title: "Notifications", description: "How you are notified while you are not looking at pi." },
	),
	hooks: Type.Object(
		{
			before_launch: names({
				title: "Before launch",
				description:
					"A program and its arguments that sees every launch before it happens: started without a shell in your home directory, with the spec as JSON on its input. It may refuse the launch, or reduce tools, model and limits; see docs/hooks.md. Only in your own settings.",
				default: [],
				limit: "users",
			}),
		},
		{ title: "Hooks", description: "Your own programs that take part in decisions." },
	),
	widget: choice(
		{
			auto: "`rich` while it fits, then `compact`",
			rich: "each agent with what it does",
			compact: "one line for each",
			off: "it is not shown",
		},
		{ title: "Subagent widget display", description: "How the tree of agents looks.", default: "auto", limit: "none" },
	),
	drainSeconds: amount(MAX_DAYS * 24 * 60 * 60, {
		title: "Drain (seconds)",
		description: "How long print and JSON mode wait for background agents before they exit; 0: not at all.",
		default: 600,
		limit: "none",
	}),
};
