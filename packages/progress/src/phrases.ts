/**
 * All texts of `describe`, as templates that users may replace or translate.
 * Data only: `template.ts` fills them.
 */

/**
 * The texts for one tool. `{path}` is the argument of that name, `{path|file_path}` the first of the two that exists,
 * `{tasks.preset}` what each item of a list has there (each value once), `{name|"an agent"}` the quoted text where there
 * is no name, `{tool}` the name of the tool. If a template cannot be filled, the one for `*` is used; a blank one gives no
 * line.
 */
export interface Phrase {
	/** While it runs. */
	call: string;
	/** When it worked. */
	done: string;
	/** When it failed. */
	failed: string;
}

/** The texts for everything that is not a tool. */
export interface Notices {
	compacting: string;
	compacted: string;
	compactionFailed: string;
	/** May use `{attempt}`, `{maxAttempts}`, `{delay}` (such as `4s`), `{seconds}` and `{error}`. */
	retrying: string;
	/** May use `{from}` and `{to}`, which are models, and `{error}`. */
	fallingBack: string;
	/** May use `{command}`. */
	verifying: string;
	/** The command succeeded. May use `{command}` and `{duration}`. */
	verified: string;
	/** May use `{error}`, which says what is wrong. */
	notVerified: string;
	/** The model reported an error, instead of text or after some text. May use `{error}`. */
	modelError: string;
	/** The model was stopped before its message was complete. May use `{error}`. */
	modelStopped: string;
	/** Used for `{error}` when there is none. */
	noReason: string;
	/** Used for `{tool}` when the tool has no name. */
	unnamedTool: string;
}

/** The phrases for pi's own tools, and under `*` those for every other tool. */
export const defaultPhrases: Readonly<Record<string, Readonly<Phrase>>> = {
	"*": { call: "Running {tool}", done: "{tool} finished", failed: "{tool} failed" },
	read: {
		call: "Reading {path|file_path}",
		done: "Finished reading {path|file_path}",
		failed: "Read failed: {path|file_path}",
	},
	grep: { call: "Searching code for {pattern}", done: "Search finished", failed: "Search failed" },
	find: { call: "Scanning for {pattern}", done: "Scan finished", failed: "Scan failed" },
	ls: { call: "Listing {path}", done: "Finished listing {path}", failed: "Listing failed: {path}" },
	edit: {
		call: "Editing {path|file_path}",
		done: "Finished editing {path|file_path}",
		failed: "Edit failed: {path|file_path}",
	},
	write: {
		call: "Writing {path|file_path}",
		done: "Finished writing {path|file_path}",
		failed: "Write failed: {path|file_path}",
	},
	// The command itself says what happens, so it needs no verb.
	bash: { call: "{command}", done: "Command finished: {command}", failed: "Command failed: {command}" },
	// Our own tools. What they are given says more than their names.
	Agent: /* @__PURE__ */ delegation('{subagent_type|"an agent"}', "{description|prompt}"),
	subagent: /* @__PURE__ */ delegation("{preset|tasks.preset}", "{task|tasks.task}"),
	background_agent: /* @__PURE__ */ delegation("{preset}", "{task}"),
	start_subagent: /* @__PURE__ */ delegation("{role}", "{task}"),
	steer_subagent: {
		call: "Telling {agent_id}: {message}",
		done: "Told {agent_id}",
		failed: "Telling {agent_id} failed",
	},
	get_subagent_result: {
		call: "Asking what {agent_id} found",
		done: "Heard from {agent_id}",
		failed: "Asking {agent_id} failed",
	},
	stop_subagent: {
		call: 'Stopping {id|"the agent"}',
		done: 'Stopped {id|"the agent"}',
		failed: 'Stopping {id|"the agent"} failed',
	},
	reply_subagent: {
		call: 'Answering {id|"the agent"}: {feedback}',
		done: 'Answered {id|"the agent"}',
		failed: 'Answering {id|"the agent"} failed',
	},
	background_agent_status: {
		call: 'Checking {runId|"background agents"}',
		done: 'Checked {runId|"background agents"}',
		failed: 'Checking {runId|"background agents"} failed',
	},
	workflow: {
		call: 'Running workflow {name|path|resume|"script"}',
		done: 'Called workflow {name|path|resume|"script"}',
		failed: 'Workflow {name|path|resume|"script"} failed',
	},
	ask_main_session: { call: "Asking: {question}", done: "Got an answer to: {question}", failed: "Asking failed" },
	powershell: { call: "{command}", done: "Command finished: {command}", failed: "Command failed: {command}" },
};

function delegation(agent: string, task: string): Phrase {
	return {
		call: `Delegating to ${agent}: ${task}`,
		done: `${agent} finished: ${task}`,
		failed: `${agent} failed: ${task}`,
	};
}

/** The default {@link Notices}. */
export const defaultNotices: Readonly<Notices> = {
	compacting: "Compacting context",
	compacted: "Context compacted",
	compactionFailed: "Compaction failed",
	retrying: "Retrying ({attempt} of {maxAttempts}) in {delay}: {error}",
	fallingBack: "Trying {to} instead of {from}: {error}",
	verifying: "Verifying: {command}",
	verified: "Verified: {command} ({duration})",
	notVerified: "Not verified: {error}",
	modelError: "Model error: {error}",
	modelStopped: "Answer stopped: {error}",
	noReason: "no reason given",
	unnamedTool: "tool",
};
