/** Wires the packages into pi, in dependency order. There is no logic here. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { offerMentions, showOffers } from "@pi-subagents/commands/input";
import {
	createDialogs,
	createExtensionDialogs,
	createQuestions,
	QUESTION,
	renderQuestion,
	shareDialogs,
} from "@pi-subagents/commands/questions";
import { type AgentUi, alertSequence, followAlerts, Manager, systemClock } from "@pi-subagents/core";
import { runAlertCommand } from "@pi-subagents/core/shell";
import { createDelivery, createOwnership, type Delivery, NOTIFICATION } from "@pi-subagents/delivery";
import type { Schedules, Settings } from "@pi-subagents/launch";
import { createGitTrust, createLauncher, createRuntimePresets, newAgentId } from "@pi-subagents/launch";
import { lazyRemoteRunner } from "@pi-subagents/remote/pi";
import { type ProcessRunnerOptions, processRunner } from "@pi-subagents/runners/process";
import { conversationOf, conversationsWritten, sessionRunner } from "@pi-subagents/runners/session";
import { tmuxRunner } from "@pi-subagents/runners/tmux";
import { type Recorder, recordRuns } from "@pi-subagents/runs";
import { createUsageReport, createUserInputSignal, renderNotification } from "@pi-subagents/tools";
import { type EventPublisher, publishEvents } from "./bus/bus.ts";
import { loadCommands } from "./commands/commands.lazy.ts";
import { registerCommands } from "./commands/register-commands.ts";
import { createSessionGuards } from "./host/guards.ts";
import { createHost, reopenableDir } from "./host/host.ts";
import { createWorktrees } from "./host/worktrees.ts";
import { createCallerData } from "./rpc/launch.ts";
import { serveRpc, trackRpcCallers } from "./rpc/server.ts";
import { createSchedules } from "./schedule/schedules.ts";
import { followArrivals } from "./session/arrivals.ts";
import { cleanUp } from "./session/cleanup.ts";
import { createMessenger, createSessionLog, followSessionLife } from "./session/delivery-ports.ts";
import { drainBeforeTheEnd } from "./session/drain.ts";
import { stopOnEscape, stopWithSession } from "./session/session-shutdown.ts";
import { dedupeSessionStart, followSession } from "./session/session-state.ts";
import { noticeUpdate } from "./session/update-notice.ts";
import { childTools } from "./tools/child.ts";
import { registerTools } from "./tools/register.ts";
import { notifySettled, showCounts } from "./ui/footer.ts";
import { showTree } from "./ui/tree.ts";
import { continueWorkflows, createLazyWorkflows, runWorkflowFile } from "./workflow/workflows.ts";

export default function subagents(given: ExtensionAPI): void {
	if (process.env.PI_SUBAGENTS_CHILD === "1") return; // a child process must not register our tools again
	const pi = dedupeSessionStart(given);
	offerMentions(pi, async () => (await loadCommands()).mentions(pi, { launcher, manager, dialogs, host }));
	const host = createHost(given);
	const arrivals = followArrivals(pi, host);
	const states = followSession(pi, host, arrivals);
	const dialogs = createDialogs();
	shareDialogs(pi, dialogs);
	const questions = createQuestions(pi, host, { ...states, ...arrivals }, dialogs);
	const gitTrust = createGitTrust(host, questions.confirm);
	const onSettings = (settings: Settings) => {
		manager.setSlots(settings);
		manager.setSessionBudget(settings.budget.session);
		delivery.configure(settings);
		bus.settings(settings);
		schedules.configure(settings);
	};
	const runtimePresets = createRuntimePresets();
	const approveLaunch = () => manager.approveLaunch();
	const launcher = createLauncher(
		{
			...host,
			checkWorktree: gitTrust.check,
			registeredPresets: runtimePresets.current,
			approveLaunch,
			replacedTools: () => guards.replacedTools(),
		},
		onSettings,
	);
	const guards = createSessionGuards(pi, host, () => launcher.latest().guards);
	const ask: NonNullable<ProcessRunnerOptions["ask"]> = (id, question, signal) => manager.ask(id, question, signal);
	const extensionDialogs = createExtensionDialogs(host, () => store, dialogs);
	const ui: AgentUi = {
		canAnswer: questions.audience.userCanAnswer,
		ask: (id, dialog, signal) => manager.askUser(id, dialog, signal),
		notify: extensionDialogs.notify,
	};
	const alertRules = () => launcher.latest().notifications;
	const flushLogs = async () => void (await Promise.all([recorder.flush(), conversationsWritten()]));
	const callerData = createCallerData();
	const isolating = createWorktrees(host, gitTrust.allows, callerData.beforeCleanup);
	const workflows = createLazyWorkflows(pi, () => ({ manager, launcher, host, flushLogs }));
	const manager: Manager = new Manager({
		runners: {
			session: isolating(
				sessionRunner({
					...host,
					guards,
					ui: { ...ui, theme: host.theme },
					childTools: (spec) => childTools(spec, { manager, launcher, host, flushLogs }),
				}),
			),
			process: isolating(
				processRunner({ ...host, guards, ask, ui, alertRules, launchers: () => launcher.latest().launchers }),
			),
			remote: lazyRemoteRunner({ ...host, guards, ask, ui, ...gitTrust, machines: () => launcher.latest().machines }),
			workflow: workflows.runner,
			tmux: isolating(tmuxRunner({ ...host, guards, ask, ui, alertRules, onWindow: host.notify })),
		},
		clock: systemClock,
		newId: newAgentId,
		maxDepth: () => launcher.latest().maxDepth,
		recheck: (spec) => {
			const session = host.session();
			return session ? launcher.recheck(spec, session) : spec;
		},
		audience: questions.audience,
		onQuestion: (question) => questions.ask(question, manager),
		showDialog: extensionDialogs.show,
		notify: host.notify,
		confirm: async (question) => (await questions.confirm("Budget of this session", question)) ?? false,
	});
	const { store } = manager;
	const recorder: Recorder = recordRuns({
		...host,
		store,
		specOf: (id) => manager.specOf(id),
		conversationOf: conversationOf(host),
		report: host.warnLater,
	});
	const bus: EventPublisher = publishEvents(pi, { manager, host });
	const log = createSessionLog(pi, host);
	const delivery: Delivery = createDelivery({
		manager,
		log,
		messenger: createMessenger(pi, { host, log, arrivals }),
		states,
		ownership: createOwnership({ dir: () => reopenableDir(host.agentDir, "open", host.session()), warn: host.warn }),
		agentDir: host.agentDir,
		sessionId: () => host.session()?.sessionManager.getSessionId(),
		flushLogs,
		mayBeClaimed: trackRpcCallers(pi),
		onSettled: (record) => notifySettled(record, host),
		onRestored: (ids) => continueWorkflows(ids, parts),
		warn: host.warn,
	});
	const { journal } = delivery;
	const parts = { manager, launcher, host, delivery, workflows, flushLogs };
	const schedules: Schedules<ExtensionContext> = createSchedules(pi, parts);
	showCounts(pi, { store, journal, host });
	showTree(pi, { manager, host, settings: launcher.latest });
	followAlerts(store, {
		rules: alertRules,
		clock: systemClock,
		show: (alert, via) =>
			host.session()?.mode === "tui" && process.stdout.write(alertSequence(alert, via, process.env)),
		run: (alert, command) =>
			host.session()?.hasUI && runAlertCommand(alert, command).catch(({ message }) => host.warn(message)),
	});
	followSessionLife(pi, delivery);
	runWorkflowFile(pi, parts);
	drainBeforeTheEnd(pi, {
		manager,
		delivery,
		questions,
		seconds: () => launcher.latest().drainSeconds,
		mode: () => host.session()?.mode,
		warn: host.warn,
	});
	registerTools(pi, {
		...parts,
		journal,
		usage: createUsageReport(store),
		interruptions: createUserInputSignal(pi),
		schedules,
		runtimePresets,
	});
	pi.registerMessageRenderer(NOTIFICATION, renderNotification);
	pi.registerMessageRenderer(QUESTION, renderQuestion);
	registerCommands(pi, { ...parts, host: { ...host, guards }, schedules, dialogs, states });
	cleanUp(pi, { store, journal, launcher, host });
	serveRpc(pi, { ...parts, bus, callerData, runtimePresets });
	showOffers(pi, {
		...parts,
		states,
		resume: async (agents, ctx) =>
			(await loadCommands()).resumeInterrupted({ launcher, manager, dialogs, host }, agents, ctx),
	});
	stopOnEscape(pi, manager, () => launcher.latest().interrupt);
	stopWithSession(pi, manager, recorder);
	noticeUpdate(pi, host);
}
