/** A new job step by step. Escape goes one step back, and what was said before is still there. */
import { messageOf } from "@pi-subagents/core";
import { USUAL_PRESET } from "../launch.ts";
import { parseRequest, type Scope } from "../schedule/request.ts";
import { loadSchedule } from "../schedule/schedule.lazy.ts";
import { momentText, timetableOf } from "../schedule/words.ts";
import type { Menu } from "./context.ts";
import { trail } from "./walk.ts";
import { askText, goThrough, type Step as WizardStep } from "./wizard.ts";

/** Where the person is in the wizard, for the title. */
const title = (step: string) => trail("Agents", "Scheduled jobs", "New", step);

interface Draft {
	preset: string;
	task: string;
	/** As `schedule` of the tool: the time, and behind semicolons whatever else a person may want. */
	when: string;
	scope: Scope;
	quiet: boolean;
}

type Step = WizardStep<Draft>;

export function createJob(menu: Menu): Promise<void> {
	const draft: Draft = { preset: USUAL_PRESET, task: "", when: "", scope: "session", quiet: false };
	return goThrough([askPreset, askTask, askWhen, askScope, askQuiet, confirm], draft, menu);
}

const askPreset: Step = async (draft, { screen, launcher, ctx }) => {
	const presets = await launcher.presets(ctx);
	const chosen = await screen.choose({
		title: title("Preset"),
		intro: "Who should work?",
		items: () => presets.map(({ name, description }) => ({ value: name, label: name, about: description })),
		selected: draft.preset,
		isSearchable: true,
	});
	if (chosen !== undefined) draft.preset = chosen;
	return chosen !== undefined;
};

const askTask: Step = (draft, menu) =>
	askText(menu, draft, "task", {
		title: title("Task"),
		intro: "What should it do? It knows nothing of this conversation.",
		check: async (task) => (task === "" ? "Without a task there is nothing to do." : undefined),
	});

const askWhen: Step = async (draft, menu) => {
	const isSaid = await askText(menu, draft, "when", {
		title: title("When"),
		intro: 'Such as "0 9 * * 1" (cron), "@daily", "30m" (every half hour), "+10m" (once), "2027-01-31 09:00".',
		check: (when) => whenFault(when, menu),
	});
	if (!isSaid) return false;
	// What was said behind the time is what the next steps begin with.
	const { scope, quiet } = parseRequest(draft.when);
	if (scope === "project") draft.scope = scope;
	if (quiet) draft.quiet = quiet;
	return true;
};

async function whenFault(when: string, { clock }: Menu): Promise<string | undefined> {
	const { parseSchedule } = await loadSchedule();
	try {
		const { when: time, timeZone } = parseRequest(when);
		parseSchedule(time, { now: clock.now(), ...(timeZone === undefined ? {} : { timeZone }) });
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

const askScope: Step = async (draft, { screen }) => {
	const chosen = await screen.choose({
		title: title("Where"),
		intro: "What does it belong to?",
		items: () => [
			{ value: "session", label: "This session", about: "it runs while this session is open" },
			{ value: "project", label: "This project", about: "it runs in whichever pi is open here; needs your trust" },
		],
		selected: draft.scope,
	});
	if (chosen !== undefined) draft.scope = chosen as Scope;
	return chosen !== undefined;
};

const askQuiet: Step = async (draft, { screen }) => {
	const chosen = await screen.choose({
		title: title("Results"),
		intro: "What should be announced?",
		items: () => [
			{ value: "loud", label: "Every result" },
			{ value: "quiet", label: "Failures only" },
		],
		selected: draft.quiet ? "quiet" : "loud",
	});
	if (chosen !== undefined) draft.quiet = chosen === "quiet";
	return chosen !== undefined;
};

/** What is wrong with it is said here, and the steps are there to mend it. */
const confirm: Step = async ({ preset, task, when, scope, quiet }, { screen, schedules, ctx }) => {
	const intro = `${preset}: ${task}\n${when}, for this ${scope}${quiet ? ", failures only" : ""}`;
	const decision = { title: title("Keep it?"), intro, yes: "Keep it", no: "Go back" };
	if (!(await screen.confirm(decision))) return false;
	try {
		const request = { ...parseRequest(when), scope, quiet };
		const { job, warnings } = await schedules.add(request, { preset, task }, ctx);
		for (const warning of warnings) screen.notify(warning, "warning");
		const { rule, next } = await timetableOf(job, 1);
		const first = next[0] === undefined ? "" : ` First run: ${momentText(next[0], job)}.`;
		screen.notify(`"${job.name}" is scheduled, ${rule}.${first}`);
		return true;
	} catch (error) {
		screen.notify(messageOf(error), "error");
		return false;
	}
};
