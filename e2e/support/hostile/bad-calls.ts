/** Calls that a model should not make, and what the error must say of each. */

interface BadCall {
	/** What is wrong with the call. */
	flaw: string;
	args: Record<string, unknown>;
	/** What the error must say. Where pi itself refuses the call, no more than the parameter is known. */
	says: RegExp;
}

const LONG = "x".repeat(10_000);
const task = { prompt: "Dig.", description: "dig", subagent_type: "repo-scout" };
const preset = { preset: "repo-scout", task: "Dig." };
/** For every tool that launches. */
const badPlaces: BadCall[] = [
	{
		flaw: "a cwd outside",
		args: { cwd: "../.." },
		says: /lies outside this session's directory; give an absolute path/,
	},
	{ flaw: "a cwd that is missing", args: { cwd: "no/such/place" }, says: /no\/such\/place does not exist/ },
	{ flaw: "a cwd that is a file", args: { cwd: "notes.txt" }, says: /notes\.txt is not a directory/ },
	{
		flaw: "an endless cwd",
		args: { cwd: `/${"deep/".repeat(20_000)}end` },
		says: /^The working directory \/deep.{200,400}end (does not exist|cannot be)/,
	},
	{ flaw: "a cwd of another type", args: { cwd: { path: "." } }, says: /cwd/ },
];
const badModels: BadCall[] = [
	{
		flaw: "an unknown model",
		args: { model: "oracle-9" },
		says: /No available model matches "oracle-9"\. Available: fake\/fake-1, fake\/fake-2/,
	},
	{ flaw: "a provider without a model", args: { model: "fake/" }, says: /No available model matches "fake\/"/ },
	{
		flaw: "a model with an invisible character",
		args: { model: "fake/fake\u200b-1" },
		says: /The model ".*" contains an invisible character, U\+200B\. Leave it out\./,
	},
	{ flaw: "a model of another type", args: { model: { id: "fake-1" } }, says: /model/ },
	{ flaw: "an endless model", args: { model: LONG }, says: /No available model matches "x+…"/ },
];
const badPresets = (field: string): BadCall[] => [
	{
		flaw: "a misspelt preset",
		args: { [field]: "repo-scot" },
		says: /There is no preset "repo-scot"\. Did you mean "repo-scout"\?/,
	},
	{ flaw: "an unknown preset", args: { [field]: "nobody" }, says: /There is no preset "nobody"\..* Known: Explore, / },
	{
		flaw: "a preset with an invisible character",
		args: { [field]: "repo\u00ad-scout" },
		says: /The preset ".*" contains an invisible character, U\+00AD\. Leave it out\./,
	},
	{ flaw: "an empty preset", args: { [field]: "" }, says: /There is no preset ""\. Known: Explore, / },
	{ flaw: "an endless preset", args: { [field]: LONG }, says: /There is no preset "x+…"\. Known: / },
	{
		flaw: "a preset that leads elsewhere",
		args: { [field]: "../repo-scout" },
		says: /There is no preset "\.\.\/repo-scout"/,
	},
	{
		flaw: "a preset named like a property",
		args: { [field]: "constructor" },
		says: /There is no preset "constructor"/,
	},
];
const badIds = (field: string): BadCall[] => [
	{ flaw: "an unknown id", args: { [field]: "nobody" }, says: /There is no agent "nobody"\. Known: .*"busy".*"done"/ },
	{ flaw: "an endless id", args: { [field]: LONG }, says: /There is no agent "x+…"\. Known: / },
	{ flaw: "an id of another type", args: { [field]: { id: "busy" } }, says: new RegExp(field) },
];
const over = (good: Record<string, unknown>, cases: readonly BadCall[]): BadCall[] =>
	cases.map((each) => ({ ...each, args: { ...good, ...each.args } }));

/** By tool. The agent "busy" is at work, the agent "done" has ended. */
export const badCalls: Record<string, BadCall[]> = {
	Agent: [
		{ flaw: "nothing", args: {}, says: /prompt/ },
		{ flaw: "no description", args: { prompt: "Dig." }, says: /description/ },
		...over(task, [
			{ flaw: "an empty prompt", args: { prompt: " \n" }, says: /The task is empty\. Say what the agent should do\./ },
			{ flaw: "a prompt of another type", args: { prompt: ["Dig."] }, says: /prompt/ },
			{ flaw: "an endless name", args: { name: LONG }, says: /The name is too long: 10,?000 characters/ },
			{
				flaw: "a name with an invisible character",
				args: { name: "di\u200bgger" },
				says: /The name ".*" contains an invisible character, U\+200B\. Leave it out\./,
			},
			{
				flaw: "an unknown level of thinking",
				args: { thinking: "maximum" },
				says: /"maximum" is no thinking level: off, minimal, low/,
			},
			{ flaw: "no turns", args: { max_turns: 0 }, says: /max_turns/ },
			{ flaw: "fewer than no turns", args: { max_turns: -1 }, says: /max_turns/ },
			{ flaw: "half a turn", args: { max_turns: 0.5 }, says: /max_turns/ },
			{ flaw: "endless turns", args: { max_turns: 1e9 }, says: /max_turns/ },
			{
				flaw: "a background that is neither yes nor no",
				args: { run_in_background: "perhaps" },
				says: /run_in_background/,
			},
			...badPresets("subagent_type"),
			...badModels,
			...badIds("resume"),
			{ flaw: "no id to resume", args: { resume: "" }, says: /There is no agent ""\. Known: / },
			{
				flaw: "an agent at work to resume",
				args: { resume: "busy" },
				says: /is running; give it another instruction with steer_subagent/,
			},
		]),
	],
	subagent: [
		{ flaw: "nothing", args: {}, says: /Give preset and task, or tasks: \[\{preset, task\}\]/ },
		{ flaw: "no task", args: { preset: "repo-scout" }, says: /Give preset and task/ },
		{ flaw: "no preset", args: { task: "Dig." }, says: /Give preset and task/ },
		{
			flaw: "one and several",
			args: { ...preset, tasks: [preset] },
			says: /either preset and task, or tasks; not both/,
		},
		{ flaw: "several, but none", args: { tasks: [] }, says: /tasks is empty\. Give at least one/ },
		{ flaw: "several that are none", args: { tasks: "all of them" }, says: /tasks/ },
		{
			flaw: "several with a model for all",
			args: { tasks: [preset], model: "fake-1" },
			says: /give model, cwd and the like in each of them/,
		},
		{ flaw: "several with a hollow one", args: { tasks: [preset, {}] }, says: /preset/ },
		{
			flaw: "several with a wrong one",
			args: { tasks: [preset, { preset: "nobody", task: "Dig." }, { preset: "repo-scout", task: " " }] },
			says: /Nothing was launched\.\nTask 2: There is no preset "nobody".*\nTask 3: The task is empty/,
		},
		...over(preset, [
			{ flaw: "an empty task", args: { task: "" }, says: /The task is empty/ },
			...badPresets("preset"),
			...badModels,
			...badPlaces,
		]),
	],
	background_agent: [
		{ flaw: "nothing", args: {}, says: /preset/ },
		...over(preset, [
			{ flaw: "an empty task", args: { task: "" }, says: /The task is empty/ },
			...badPresets("preset"),
			...badModels,
			...badPlaces,
		]),
	],
	start_subagent: [
		{ flaw: "nothing", args: {}, says: /task/ },
		...over({ task: "Dig.", role: "repo-scout" }, [
			{ flaw: "an empty task", args: { task: "" }, says: /The task is empty/ },
			{ flaw: "an endless name", args: { name: LONG }, says: /The name is too long/ },
			...badPresets("role"),
			...badPlaces,
		]),
	],
	background_agent_status: [
		{
			flaw: "an unknown run",
			args: { runId: "nobody" },
			says: /There is no single background run "nobody"\. None has been started/,
		},
		{ flaw: "an endless run", args: { runId: LONG }, says: /There is no single background run "x+…"/ },
		{ flaw: "neither yes nor no", args: { includeCompleted: "perhaps" }, says: /includeCompleted/ },
	],
	get_subagent_result: [
		{ flaw: "nothing", args: {}, says: /agent_id/ },
		{ flaw: "an empty id", args: { agent_id: "" }, says: /There is no agent ""\. Known: / },
		...badIds("agent_id"),
		{
			flaw: "a broken expression",
			args: { agent_id: "done", peek: { regex: "(" } },
			says: /The regex "\(" is not valid/,
		},
		{ flaw: "lines that are no number", args: { agent_id: "done", peek: { lines: "many" } }, says: /lines/ },
	],
	steer_subagent: [
		{ flaw: "nothing", args: {}, says: /agent_id/ },
		...over({ message: "Deeper!" }, badIds("agent_id")),
		{
			flaw: "nothing to say",
			args: { agent_id: "busy", message: " " },
			says: /The message is empty\. Say what the agent should do differently/,
		},
		{
			flaw: "an agent that has ended",
			args: { agent_id: "done", message: "Deeper!" },
			says: /is completed\. Continue it with Agent, resume: "\w+"/,
		},
	],
	stop_subagent: [...badIds("id"), { flaw: "an unknown way", args: { id: "busy", mode: "kill" }, says: /mode/ }],
	reply_subagent: [
		{ flaw: "nothing", args: {}, says: /feedback/ },
		{ flaw: "nobody who asks", args: { feedback: "Yes." }, says: /No agent waits for an answer/ },
		...over({ feedback: "Yes." }, badIds("id")),
		{
			flaw: "an agent that does not ask",
			args: { id: "busy", feedback: "Yes." },
			says: /is running; it is not waiting for an answer/,
		},
		{
			flaw: "an agent that has ended",
			args: { id: "done", feedback: "Yes." },
			says: /is completed; it is not waiting for an answer/,
		},
	],
	list_models: [
		{
			flaw: "an unknown provider",
			args: { provider: "fak" },
			says: /No model of a provider "fak" can be used\. Did you mean "fake"\? Known: fake\./,
		},
		{ flaw: "an endless provider", args: { provider: LONG }, says: /No model of a provider "x+…" can be used/ },
	],
};
