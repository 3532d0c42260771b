/** A new job step by step. Escape goes one step back and keeps earlier answers. */
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import { DEFAULT_PRESET, loadSchedule, momentText, parseRequest, type Scope, timetableOf } from "@pi-subagents/launch";
import type { Menu } from "../../screen/navigation.ts";
import { askText, breadcrumb, runWizard, type Step as WizardStep } from "../../screen/navigation.ts";

/** The position in the wizard, as the title. */
const title = (step: string) => breadcrumb("Agents", "Scheduled jobs", "New", step);

interface Draft {
	preset: string;
	task: string;
	/** In the format of the tool's `schedule`: the time, then options after semicolons. */
	when: string;
	scope: Scope;
	quiet: boolean;
}

type Step = WizardStep<Draft>;

const SAVE = "save";

export function createJob(menu: Menu): Promise<void> {
	const draft: Draft = { preset: DEFAULT_PRESET, task: "", when: "", scope: "session", quiet: false };
	return runWizard([askPreset, askTask, askWhen, askScope, askQuiet, confirm], draft, menu);
}

const askPreset: Step = async (draft, { screen, launcher, ctx }) => {
	const presets = await launcher.presets(ctx);
	const chosen = await screen.choose({
		title: title("Preset"),
		intro: "Which preset should run?",
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
		intro: "What should it do? It does not see this conversation.",
		check: async (task) => (task === "" ? "A task is required." : undefined),
	});

const askWhen: Step = async (draft, menu) => {
	const isSaid = await askText(menu, draft, "when", {
		title: title("When"),
		intro:
			'Such as "0 9 * * 1" (cron: every Monday at 09:00), "@daily", "30m" (every 30 minutes), "+10m" (once, in 10 minutes), "2027-01-31 09:00" (once).',
		check: (when) => whenFault(when, menu),
	});
	if (!isSaid) return false;
	// Options after the time become the defaults of the next steps.
	const { scope, quiet } = parseRequest(draft.when);
	if (scope === "project") draft.scope = scope;
	if (quiet) draft.quiet = quiet;
	return true;
};

async function whenFault(when: string, menu: Menu): Promise<string | undefined> {
	try {
		await ruleText(when, menu);
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

/** `every Monday at 09:00 (Europe/Berlin)`. Throws what is wrong with a text that is no schedule. */
async function ruleText(text: string, { clock }: Menu): Promise<string> {
	const { describeSchedule, parseSchedule } = await loadSchedule();
	const { when, timeZone } = parseRequest(text);
	return describeSchedule(parseSchedule(when, { now: clock.now(), ...defined({ timeZone }) }));
}

const askScope: Step = async (draft, menu) => {
	const chosen = await menu.screen.choose({
		title: title("Where"),
		intro: `It runs ${await ruleText(draft.when, menu)}.\nWhere does it belong?`,
		items: () => [
			{ value: "session", label: "This session", about: "it runs while this session is open" },
			{ value: "project", label: "This project", about: "it runs in any pi open here; needs your trust" },
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

/** Errors are shown here; the user can go back to fix them. */
const confirm: Step = async ({ preset, task, when, scope, quiet }, menu) => {
	const { screen, schedules, ctx } = menu;
	const rule = await ruleText(when, menu);
	const intro = `${preset}: ${task}\n${rule}, for this ${scope}${quiet ? ", failures only" : ""}`;
	const chosen = await screen.choose({
		title: title("Save it?"),
		intro,
		items: () => [
			{ value: SAVE, label: "Save it", about: "the list of jobs can pause or remove it" },
			{ value: "back", label: "Go back" },
		],
	});
	if (chosen !== SAVE) return false;
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
