/** What a launch gets: tools of the model, presets, models, worktrees, schedules and workflows. */
import { Type } from "typebox";
import { amount, choice, MAX_DAYS, names, severalOf, yesOrNo } from "./kinds.ts";

export const launchSettings = {
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
			limit: "common",
		},
	),
	builtins: yesOrNo({
		title: "Built-in presets",
		description: "Whether the built-in presets exist.",
		default: true,
		limit: "both",
	}),
	packageAgents: Type.Union([Type.Boolean(), names()], {
		title: "Presets of packages",
		description: "Whether presets that installed packages ship are used, or only those of the packages named.",
		default: true,
		limit: "common",
	}),
	imports: severalOf(
		{ claude: "those of Claude Code", opencode: "those of OpenCode" },
		{ title: "Imports", description: "Other tools whose agent files are used as presets.", default: [], limit: "none" },
	),
	projectPresets: choice(
		{
			allow: "unless you declined to trust the project",
			trusted: "only in projects that you have trusted (stored by pi)",
			off: "never",
		},
		{
			title: "Presets of projects",
			description: "Whether presets of the project are used.",
			default: "allow",
			limit: "stricter",
		},
	),
	scopeModels: choice(
		{ off: "it is used", warn: "it is used, with a warning", deny: "the launch fails" },
		{
			title: "Models out of scope",
			description: "What happens when an agent asks for a model outside those enabled in pi.",
			default: "off",
			limit: "stricter",
		},
	),
	defaultModel: Type.String({
		maxLength: 200,
		title: "Default model",
		description: "The model of presets that name none; empty: the session's.",
		default: "",
		limit: "none",
	}),
	backgroundByDefault: yesOrNo({
		title: "Agents in the background",
		description: "Whether `Agent` runs in the background unless the call says otherwise.",
		default: true,
		limit: "none",
	}),
	worktrees: yesOrNo({
		title: "Worktrees",
		description: "Whether agents can have a git worktree; if not, one that needs it does not start.",
		default: true,
		limit: "both",
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
				limit: "none",
			}),
			link: names({
				title: "Links",
				description: "Directories of your checkout that worktrees share, such as `node_modules`; git must ignore them.",
				default: [],
				limit: "none",
			}),
			include: names({
				title: "Copies",
				description:
					"Patterns of ignored files that worktrees get a copy of, such as `.env*`, besides those in `.worktreeinclude`.",
				default: [],
				limit: "none",
			}),
			setup: Type.Union([Type.String({ maxLength: 10_000 }), names()], {
				title: "Set-up",
				description:
					"A command that must succeed in a new worktree before the agent starts: text for your shell, or a list; empty: none.",
				default: "",
				limit: "none",
			}),
			setupTimeoutMinutes: amount(MAX_DAYS * 24 * 60, {
				title: "Set-up limit (minutes)",
				description: "How long that command may take; 0 is no limit.",
				default: 10,
				limit: "smaller",
			}),
		},
		{ title: "Worktree", description: "Where the worktrees of agents are, and what makes them ready to work in." },
	),
	verifyCalls: yesOrNo({
		title: "Verification in calls",
		description:
			"Whether the model can name a command that checks an agent's work (`verify`); it needs the tool `bash`.",
		default: false,
		limit: "both",
	}),
	fallbackSubagent: Type.Union([Type.Literal(false), Type.String({ minLength: 1, maxLength: 200 })], {
		title: "Fallback preset",
		description:
			"The preset that is used, with a note, when a call names one that does not exist; false: the call fails and lists the presets.",
		default: false,
		limit: "none",
	}),
	excludeExtensions: names({
		title: "Extensions to leave out",
		description: "Extensions that no agent loads, whatever its preset says, unless they guard it (`guards`).",
		default: [],
		limit: "either",
	}),
	guards: Type.Union(
		[
			Type.Literal("on", { description: "they guard agents as they guard pi" }),
			Type.Literal("off", { description: "they guard only pi" }),
			Type.Object(
				{
					exempt: Type.Optional(names()),
					also: Type.Optional(names()),
				},
				{ additionalProperties: false },
			),
		],
		{
			title: "Guards",
			description:
				'Whether your extensions that judge tool calls or replace a built-in tool guard agents, too: `"on"`, `"off"`, or with names or paths of extensions: `{ "exempt": ["noisy-gate"], "also": ["redactor"] }`. Only in your own settings; see docs/guards.md.',
			default: "on",
			limit: "users",
		},
	),
	scheduling: yesOrNo({
		title: "Scheduling",
		description: "Whether agents can be launched by a schedule.",
		default: true,
		limit: "both",
	}),
	workflows: Type.Object(
		{
			autoResume: yesOrNo({
				title: "Resume",
				description: "Whether a workflow that ended with pi continues when its session is opened again.",
				default: false,
				limit: "none",
			}),
			budgetTokens: amount(1_000_000_000, {
				title: "Budget (tokens)",
				description: "How many tokens the agents of one workflow may use together; 0 is no limit.",
				default: 0,
				limit: "smaller",
			}),
		},
		{ title: "Workflows", description: "How workflow scripts run." },
	),
};
