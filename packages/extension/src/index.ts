/** Wires the packages into pi, in the order of their dependencies. There is no logic here. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Manager, systemClock } from "@pi-subagents/core";
import { type ProcessRunnerOptions, processRunner, type Recorder, recordRuns } from "@pi-subagents/core/process";
import { conversationOf, sessionRunner } from "@pi-subagents/core/session";
import { tmuxRunner } from "@pi-subagents/core/tmux";
import { announce, showBackground } from "./background.ts";
import { type BusTeller, tellBus } from "./bus/bus.ts";
import { isInsideChild } from "./child.ts";
import { registerCommands } from "./commands/commands.ts";
import { createDelivery, type Delivery } from "./delivery/delivery.ts";
import { drainBeforeTheEnd } from "./delivery/drain.ts";
import { followSession } from "./delivery/session-state.ts";
import { createDialogs } from "./dialogs.ts";
import { fileLongAnswers } from "./filing.ts";
import { createHost } from "./host.ts";
import { createInterruptions } from "./interruptions.ts";
import { createJournal } from "./journal/journal.ts";
import { createOwnership } from "./journal/owner.ts";
import { NOTIFICATION } from "./journal/session-entry.ts";
import { createLauncher } from "./launch.ts";
import { createLedger } from "./ledger.ts";
import { stopOnEscape, stopWithSession } from "./life.ts";
import { createQuestions, QUESTION } from "./questions.ts";
import { renderNotification } from "./render/notification.ts";
import { renderQuestion } from "./render/question.ts";
import { restoreOnStart } from "./restore.ts";
import { answerOthers, noticeCallers } from "./rpc/server.ts";
import { createSchedules, type Schedules } from "./schedule/schedules.ts";
import { withSingleStarts } from "./starts.ts";
import { tidyUp } from "./tidy.ts";
import { childTools } from "./tools/child.ts";
import { registerTools } from "./tools/register.ts";
import { showTree } from "./tree.ts";
import { createWorktrees } from "./worktrees.ts";

export default function subagents(given: ExtensionAPI): void {
	if (isInsideChild(process.env)) return;
	const pi = withSingleStarts(given);
	const host = createHost(given);
	const states = followSession(pi, host);
	const dialogs = createDialogs();
	const questions = createQuestions(pi, host, states, dialogs);
	const launcher = createLauncher(host, (settings) => {
		manager.setSlots(settings);
		delivery.configure(settings);
		bus.settings(settings);
		schedules.configure(settings);
	});
	const ask: ProcessRunnerOptions["ask"] = (id, question, signal) => manager.ask(id, question, signal);
	const flushLogs = () => recorder.flush();
	const isolating = createWorktrees(host);
	const manager: Manager = new Manager({
		runners: {
			session: isolating(
				sessionRunner({
					...host,
					childTools: (spec) => childTools(spec, { manager, launcher, host, flushLogs }),
				}),
			),
			process: isolating(processRunner({ ...host, ask })),
			tmux: isolating(tmuxRunner({ ...host, ask, onWindow: host.inform })),
		},
		clock: systemClock,
		newId: () => crypto.randomUUID().slice(0, 8),
		maxDepth: () => launcher.latest().maxDepth,
		audience: questions.audience,
		onQuestion: (question) => questions.ask(question, manager),
	});
	const { store } = manager;
	const recorder: Recorder = recordRuns({
		...host,
		store,
		specOf: (id) => manager.specOf(id),
		conversationOf: conversationOf(host),
		report: host.tellSometime,
	});
	fileLongAnswers({ manager, flushLogs, tell: host.tell });
	const journal = createJournal(pi, host, store);
	const bus: BusTeller = tellBus(pi, { manager, host });
	const delivery: Delivery = createDelivery(pi, {
		store,
		journal,
		host,
		states,
		mayBeClaimed: noticeCallers(pi),
		onSettled: (record) => announce(record, host),
	});
	const schedules: Schedules = createSchedules(pi, { manager, launcher, host, delivery });
	showBackground(pi, { store, journal, host });
	showTree(pi, { store, host, settings: launcher.latest });
	restoreOnStart(pi, { manager, journal, delivery, host, ownership: createOwnership(host) });
	drainBeforeTheEnd(pi, {
		manager,
		delivery,
		questions,
		seconds: () => launcher.latest().drainSeconds,
		mode: () => host.session()?.mode,
		tell: host.tell,
	});
	registerTools(pi, {
		manager,
		launcher,
		host,
		journal,
		delivery,
		ledger: createLedger(store),
		interruptions: createInterruptions(pi),
		flushLogs,
		schedules,
	});
	pi.registerMessageRenderer(NOTIFICATION, renderNotification);
	pi.registerMessageRenderer(QUESTION, renderQuestion);
	registerCommands(pi, { host, launcher, manager, schedules, dialogs, states });
	tidyUp(pi, { store, journal, launcher, host });
	answerOthers(pi, { manager, launcher, host, delivery, bus });
	stopOnEscape(pi, manager, () => launcher.latest().interrupt);
	stopWithSession(pi, manager, recorder);
}
