/**
 * Everything the user can set, with its default, its bounds and the words for it. From this one schema come the checks,
 * the type, `docs/settings.md`, the file that editors complete from, and the entries of a menu.
 */
import { type Static, Type } from "typebox";

type About<Value> = {
	/** What a menu calls it. */
	title: string;
	description: string;
	default: Value;
};

/** Timers reach no further than this. */
const MAX_DAYS = 24;

const count = (about: About<number>) => Type.Integer({ minimum: 0, maximum: 100_000, ...about });

const amount = (maximum: number, about: About<number>) => Type.Number({ minimum: 0, maximum, ...about });

const countOrCounts = (about: About<number>) => {
	const one = Type.Integer({ minimum: 0, maximum: 100_000 });
	return Type.Union([one, Type.Record(Type.String(), one, { additionalProperties: false })], about);
};

const yesOrNo = (about: About<boolean>) => Type.Boolean(about);

/** The values, each with what it means. */
const choice = <Name extends string>(meanings: Record<Name, string>, about?: About<NoInfer<Name>>) =>
	Type.Unsafe<Name>(
		Type.Union(
			Object.entries<string>(meanings).map(([name, description]) => Type.Literal(name, { description })),
			about,
		),
	);

const names = (about?: About<string[]>) => Type.Array(Type.String({ maxLength: 200 }), { maxItems: 500, ...about });

const severalOf = <Name extends string>(meanings: Record<Name, string>, about: About<NoInfer<Name>[]>) =>
	Type.Array(choice(meanings), about);

/** Paths in the user's settings: whole, or from their home. */
const secretFile = (description: string) =>
	Type.Optional(Type.String({ maxLength: 1_000, pattern: "^(?:~?/|[A-Za-z]:\\\\)", description }));

/** A key of pi's editor. pi reads the keys when a session starts. */
const shortcut = ({ description, ...about }: About<string>) =>
	Type.String({
		maxLength: 20,
		pattern: "^(?:|f(?:[1-9]|1[0-2])|(?:shift\\+)?(?:ctrl|alt|ctrl\\+alt)\\+(?:shift\\+)?[a-z0-9])$",
		description: `${description} A change counts from the next start or \`/reload\`.`,
		...about,
	});

/** How to reach a machine. */
const machine = Type.Object({
	/** Optional only here: a machine without an address is one that nobody can reach. */
	ssh: Type.Optional(
		Type.String({
			minLength: 1,
			maxLength: 300,
			pattern: "^[^-\\s]\\S*$", // not an option
			description: "Where ssh connects to: a host, `user@host`, or a name from your ssh configuration.",
		}),
	),
	sshOptions: Type.Optional(
		Type.Array(Type.String({ maxLength: 300 }), {
			maxItems: 50,
			description: "More options for ssh, as separate words.",
		}),
	),
	worker: Type.Optional(
		Type.String({ maxLength: 1_000, description: "The worker's program there, if it is not on the PATH." }),
	),
	nats: Type.Optional(
		Type.String({
			maxLength: 1_000,
			pattern: "^(?:nats|tls)://[^\\s@]+$", // no token in it
			description: "Instead of `ssh`, a fleet: the address of its NATS engine, such as `nats://127.0.0.1:4222`.",
		}),
	),
	fleet: Type.Optional(
		Type.String({ pattern: "^[\\w-]{1,32}$", description: "Your part of the engine; `main` if it is absent." }),
	),
	labels: Type.Optional(
		Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
			maxItems: 20,
			description: "Only workers of the fleet that have all these labels.",
		}),
	),
	tokenFile: secretFile("A file that only you can read, with the token that the engine wants."),
	nkeyFile: secretFile("The same, with the seed of an nkey that the engine knows."),
	keyFile: secretFile("The same, with the key that you and the workers seal messages with; else made from the token."),
	caFile: secretFile("The certificate of the authority that signed the engine's."),
});

/** A program that agents run inside. Whole or not at all: one that is understood in part could confine less. */
const launcher = Type.Union([
	Type.Object(
		{
			command: Type.Array(Type.String({ minLength: 1, maxLength: 4_000, pattern: "^[^\\0]*$" }), {
				minItems: 1,
				maxItems: 500,
				description: "The program and its arguments; pi's own command follows.",
			}),
			env: Type.Optional(
				Type.Record(Type.String(), Type.String({ maxLength: 10_000 }), {
					description: "More variables for the program, and for what runs inside it.",
				}),
			),
		},
		{ additionalProperties: false },
	),
]);

export const settingsSchema = Type.Object({
	maxConcurrent: count({
		title: "Agents at once",
		description: "How many agents may run at the same time; 0 is no limit.",
		default: 8,
	}),
	maxPerProvider: countOrCounts({
		title: "Agents at once per provider",
		description: 'How many may run at the same time on each provider, or by name: `{ "anthropic": 4 }`; 0 is no limit.',
		default: 0,
	}),
	maxPerModel: countOrCounts({
		title: "Agents at once per model",
		description:
			'How many may run at the same time on each model, or by name: `{ "anthropic/claude-opus-4-5": 2 }`; 0 is no limit.',
		default: 0,
	}),
	whenFull: choice(
		{ queue: "it waits until another has settled", refuse: "the call fails with an error" },
		{
			title: "When all slots are taken",
			description: "What happens to a launch when no more agents may run.",
			default: "queue",
		},
	),
	maxDepth: Type.Integer({
		minimum: 1,
		maximum: 32,
		title: "Levels of agents",
		description: "How many levels of agents there may be; with 1, agents cannot launch agents.",
		default: 4,
	}),
	idleTimeoutMinutes: amount(MAX_DAYS * 24 * 60, {
		title: "Idle timeout (minutes)",
		description: "Stop an agent after this long without activity; 0 is no limit.",
		default: 0,
	}),
	defaultMaxTurns: count({
		title: "Turns",
		description: "Ask an agent to finish after this many turns, unless its preset says otherwise; 0 is no limit.",
		default: 0,
	}),
	graceTurns: count({
		title: "Grace turns",
		description: "How many turns an agent has left once it was asked to finish.",
		default: 5,
	}),
	wrapUpPercent: Type.Number({
		minimum: 0,
		maximum: 50,
		title: "Kept for the answer (percent)",
		description:
			"How much of its time and budget an agent keeps for its answer: that long before a limit ends the run, and at least one turn before, it is asked to finish; 0: it is not asked.",
		default: 10,
	}),
	budget: Type.Object(
		{
			session: Type.Object(
				{
					cost: amount(1_000_000, {
						title: "Cost in dollars",
						description: "How much the agents of a session may cost together, as the provider bills it; 0 is no limit.",
						default: 0,
					}),
					tokens: amount(1_000_000_000_000, {
						title: "Tokens",
						description:
							"How many tokens they may use together: input, output, and what is written to and read from the cache; 0 is no limit.",
						default: 0,
					}),
					agents: count({
						title: "Agents",
						description: "How many agents may be launched in a session; 0 is no limit.",
						default: 0,
					}),
				},
				{
					title: "Budget of a session",
					description: "What the agents of one session may use together, over all its runs.",
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
		description: "After how long without a sign of life an agent is shown as stalled; 0 is never.",
		default: 120,
	}),
	runner: choice(
		{
			session: "inside pi",
			process: "in its own pi process",
			tmux: "in its own pi process, which you can watch in a tmux window",
		},
		{ title: "Runner", description: "Where agents run if their preset does not say.", default: "session" },
	),
	machine: Type.String({
		maxLength: 100,
		title: "Machine",
		description: "The machine on which agents run if neither the call nor their preset names one; empty: this one.",
		default: "",
	}),
	machines: Type.Record(Type.String(), machine, {
		title: "Machines",
		description:
			'Other machines that agents may run on, by a name of your choice: `{ "box": { "ssh": "me@box" } }`, or a fleet with `nats`. Only in your own settings; see docs/remote.md.',
		default: {},
	}),
	retry: choice(
		{ off: "it is reported as lost", lost: "it is run again from the start, once" },
		{
			title: "Retry",
			description: "What happens to an agent on another machine if that machine loses it and nothing of it is alive.",
			default: "off",
		},
	),
	launchers: Type.Record(Type.String(), launcher, {
		title: "Launchers",
		description:
			'Programs that agents can run inside, such as a sandbox, by a name of your choice: `{ "net": { "command": ["bwrap", …] } }`. A preset names one with `launcher`. Only in your own settings; see docs/sandboxes.md.',
		default: {},
	}),
	join: choice(
		{
			smart: "together when all have settled, but failures, and results that have waited long, at once",
			async: "each when it settles",
			group: "together when all have settled",
		},
		{
			title: "Join results",
			description: "How the results of agents launched in one turn are delivered.",
			default: "smart",
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
				"What happens when an agent in the background settles while pi is idle. One that you started yourself never starts a turn.",
			default: "turn",
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
		},
	),
	toolsets: severalOf(
		{
			agents:
				"agents in the background (`Agent`, `get_subagent_result`, `steer_subagent`, `stop_subagent`, `reply_subagent`, `list_models`)",
			presets: "presets by name (`subagent`, `background_agent`, `background_agent_status`)",
			roles: "agents that hand the turn back to you (`start_subagent`, `stop_subagent`, `reply_subagent`)",
			workflows: "scripts that orchestrate agents (`workflow`)",
		},
		{
			title: "Tools",
			description: "Which groups of tools the model gets.",
			default: ["agents", "presets", "roles"],
		},
	),
	builtins: yesOrNo({
		title: "Built-in presets",
		description: "Whether the built-in presets exist.",
		default: true,
	}),
	packageAgents: Type.Union([Type.Boolean(), names()], {
		title: "Presets of packages",
		description: "Whether presets that installed packages ship are used, or only those of the packages named.",
		default: true,
	}),
	imports: severalOf(
		{ claude: "those of Claude Code", opencode: "those of OpenCode" },
		{ title: "Imports", description: "Other tools whose agent files are used as presets.", default: [] },
	),
	projectPresets: choice(
		{
			allow: "unless you declined to trust the project",
			trusted: "only in projects that you have trusted (stored by pi)",
			off: "never",
		},
		{ title: "Presets of projects", description: "Whether presets of the project are used.", default: "allow" },
	),
	scopeModels: choice(
		{ off: "it is used", warn: "it is used, with a warning", deny: "the launch fails" },
		{
			title: "Models out of scope",
			description: "What happens when an agent asks for a model outside those enabled in pi.",
			default: "off",
		},
	),
	defaultModel: Type.String({
		maxLength: 200,
		title: "Default model",
		description: "The model of presets that name none; empty: the session's.",
		default: "",
	}),
	backgroundByDefault: yesOrNo({
		title: "Agents in the background",
		description: "Whether `Agent` works in the background unless the call says otherwise.",
		default: true,
	}),
	worktrees: yesOrNo({
		title: "Worktrees",
		description: "Whether agents can have a git worktree; if not, one that needs it does not start.",
		default: true,
	}),
	worktree: Type.Object(
		{
			dir: Type.String({
				maxLength: 1_000,
				pattern: "^[^\\0]*$",
				title: "Place",
				description:
					"The directory in which worktrees are made: relative to your checkout, absolute, or `~/…`; inside the checkout git must ignore it. Empty: in pi's directory.",
				default: "",
			}),
			link: names({
				title: "Links",
				description: "Directories of your checkout that worktrees share, such as `node_modules`; git must ignore them.",
				default: [],
			}),
			include: names({
				title: "Copies",
				description:
					"Patterns of ignored files that worktrees get a copy of, such as `.env*`, besides those in `.worktreeinclude`.",
				default: [],
			}),
			setup: Type.Union([Type.String({ maxLength: 10_000 }), names()], {
				title: "Set-up",
				description:
					"A command that must succeed in a new worktree before the agent starts: text for your shell, or a list; empty: none.",
				default: "",
			}),
			setupTimeoutMinutes: amount(MAX_DAYS * 24 * 60, {
				title: "Set-up limit (minutes)",
				description: "How long that command may take; 0 is no limit.",
				default: 10,
			}),
		},
		{ title: "Worktree", description: "Where the worktrees of agents are, and what makes them ready to work in." },
	),
	verifyCalls: yesOrNo({
		title: "Verification in calls",
		description:
			"Whether the model can name a command that checks an agent's work (`verify`); it needs the tool `bash`.",
		default: false,
	}),
	fallbackSubagent: Type.Union([Type.Literal(false), Type.String({ minLength: 1, maxLength: 200 })], {
		title: "Fallback preset",
		description:
			"The preset that is used, with a note, when a call names one that does not exist; false: the call fails and lists the presets.",
		default: false,
	}),
	excludeExtensions: names({
		title: "Extensions to leave out",
		description: "Extensions that no agent loads, whatever its preset says.",
		default: [],
	}),
	scheduling: yesOrNo({
		title: "Scheduling",
		description: "Whether agents can be launched by a schedule.",
		default: true,
	}),
	workflows: Type.Object(
		{
			autoResume: yesOrNo({
				title: "Resume",
				description: "Whether a workflow that ended with pi continues when its session is opened again.",
				default: false,
			}),
			budgetTokens: amount(1_000_000_000, {
				title: "Budget (tokens)",
				description: "How many tokens the agents of one workflow may use together; 0 is no limit.",
				default: 0,
			}),
		},
		{ title: "Workflows", description: "How workflow scripts run." },
	),
	agentsKey: shortcut({
		title: "Key for the agents",
		description: "The key that opens the list of agents, such as `alt+a`, `ctrl+alt+s` or `f6`; empty: none.",
		default: "alt+a",
	}),
	resultsKey: shortcut({
		title: "Key for results",
		description:
			"The key that takes results which an interrupt holds back, or resumes the agents that ended with the last pi; empty: none.",
		default: "alt+r",
	}),
	mentions: choice(
		{
			direct: "it goes to that agent, or starts one, without a turn of the model",
			model: "the model gets it, with a note on whom it addresses",
			off: "nothing; the model gets it as it is",
		},
		{
			title: "Messages to @name",
			description: "What happens to a message that begins with `@` and the id or name of an agent, or a preset.",
			default: "direct",
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
				{ title: "About", description: "What you are notified of.", default: [] },
			),
			minSeconds: amount(MAX_DAYS * 24 * 60 * 60, {
				title: "From (seconds)",
				description: "Only about runs that took at least this long, and questions that have waited this long.",
				default: 30,
			}),
			via: choice(
				{
					osc: "the terminal shows a notification, if it can",
					bell: "the terminal rings",
					command: "`command` is started",
				},
				{ title: "Via", description: "How notifications reach you.", default: "osc" },
			),
			command: names({
				title: "Command",
				description:
					'A program and its arguments, such as `["notify-my-phone", "--quiet"]`: started without a shell in your home directory, with the notification as JSON on its input. Agents that continue after you quit use only this, whatever `via` says.',
				default: [],
			}),
		},
		{ title: "Notifications", description: "What you hear of outside pi, while you look elsewhere." },
	),
	hooks: Type.Object(
		{
			before_launch: names({
				title: "Before launch",
				description:
					"A program and its arguments that sees every launch before it happens: started without a shell in your home directory, with the spec as JSON on its input. It may refuse the launch, or take tools, the model and limits back; see docs/hooks.md. Only in your own settings.",
				default: [],
			}),
		},
		{ title: "Hooks", description: "Programs of yours that decide with us." },
	),
	widget: choice(
		{
			auto: "`rich` while it fits, then `compact`",
			rich: "each agent with what it does",
			compact: "one line for each",
			off: "it is not shown",
		},
		{ title: "Subagent widget display", description: "How the tree of agents looks.", default: "auto" },
	),
	drainSeconds: amount(MAX_DAYS * 24 * 60 * 60, {
		title: "Drain (seconds)",
		description: "How long print and JSON mode wait for agents in the background before they end; 0: not at all.",
		default: 600,
	}),
	retention: Type.Object(
		{
			days: amount(36_500, { title: "Days", description: "For how many days; 0 is no limit.", default: 14 }),
			megabytes: amount(1_000_000, {
				title: "Megabytes",
				description: "How much in all, the newest first; 0 is no limit.",
				default: 500,
			}),
		},
		{ title: "Retention", description: "How long the files of settled runs are kept." },
	),
	agentOverrides: Type.Record(Type.String(), Type.Unsafe<Record<string, unknown>>({ type: "object" }), {
		title: "Overrides",
		description: 'Fields that replace those of a preset, by its name: `{ "Explore": { "model": "haiku" } }`.',
		default: {},
	}),
});

/** Shared by all readers, so it is immutable. */
export type Settings = Frozen<Static<typeof settingsSchema>>;

type Frozen<Value> = Value extends object ? { readonly [Key in keyof Value]: Frozen<Value[Key]> } : Value;
