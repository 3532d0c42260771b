/** `/subagent doctor`: checks the setup, reports problems and how to fix them. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Clock, systemClock } from "@pi-subagents/core";
import { messageOf } from "@pi-subagents/core/internal/base";
import { formatCount } from "@pi-subagents/progress";
import { sharedTools } from "@pi-subagents/runners/session";
import type { Block, Row, Tone } from "@pi-subagents/widget/dialogs";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { checkDirectories, checkLeftovers, checkWorktrees } from "./directories.ts";
import type { Check, Finding, Level } from "./finding.ts";
import { checkGuards } from "./guards.ts";
import { checkDescription, checkLaunches, checkModels, checkPresets, checkSettings, checkTools } from "./presets.ts";
import { checkGit, checkSearch, checkTmux, checkVersions } from "./programs.ts";
import { checkSharedTools } from "./shared-tools.ts";

/** The user is waiting; a check that takes longer is stuck. */
const LIMIT_MS = 2_000;

export function doctorCommand(deps: CommandDeps): Subcommand {
	return {
		name: "doctor",
		args: "",
		about: "check the setup, report problems and how to fix them",
		run: async (_rest, ctx) => reportBlocks(await examine(checksFor(deps, ctx), LIMIT_MS)),
	};
}

function checksFor({ host, launcher, manager }: CommandDeps, ctx: ExtensionContext): Check[] {
	const { cwd } = ctx;
	const { agentDir } = host;
	const parent = host.parent(ctx);
	// Read once for all checks. Each check awaits it from the start, so no rejection is unhandled.
	const report = launcher.presetReport(ctx);
	const known = Promise.all([report, host.facts(ctx, undefined)]);
	const shared = sharedTools(host.runningExtensions?.() ?? [], host.isOwnExtension);
	return [
		{ name: "versions", run: () => checkVersions() },
		{ name: "settings", run: async () => checkSettings(await report) },
		{ name: "presets", run: async () => checkPresets(await report) },
		{
			name: "launches",
			run: async () => {
				const [all, { models }] = await known;
				if (models.length === 0) return []; // which is a finding of its own
				return checkLaunches(all, (preset) => launcher.resolve({ preset, task: "(the task)", isTrial: true }, ctx));
			},
		},
		{ name: "models", run: async () => checkModels(...(await known), parent) },
		{
			name: "tool text",
			run: async () =>
				shared.some(({ tools, isTheirs }) => isTheirs && tools.includes("Agent"))
					? []
					: checkDescription(await report, { cwd, agentDir, trust: host.storedTrust(cwd) }),
		},
		{ name: "tools", run: async () => [...checkTools((await known)[1]), ...checkSharedTools(shared)] },
		{ name: "guards", run: async () => (host.guards ? checkGuards(host.guards) : []) },
		{ name: "search", run: () => checkSearch(agentDir, process.env) },
		{ name: "git", run: () => checkGit(cwd) },
		{ name: "tmux", run: async () => checkTmux(await report, process.env) },
		{ name: "budget", run: async () => budgetFindings(manager.sessionBudget()) },
		{ name: "folders", run: () => checkDirectories({ agentDir, cwd }) },
		{ name: "worktrees", run: () => checkWorktrees(agentDir) },
		{
			name: "leftovers",
			run: () => checkLeftovers({ agentDir, cwd }, manager.store.snapshot().records, systemClock.now()),
		},
	];
}

/** What the agents of this session have used of its budget. */
function budgetFindings(used: readonly string[]): Finding[] {
	return [{ level: "ok", text: used.length === 0 ? "no limit for this session" : `used ${used.join(", ")}` }];
}

export interface Examined {
	name: string;
	findings: readonly Finding[];
}

/** Runs all checks concurrently. A failure or timeout becomes a finding. */
export function examine(checks: readonly Check[], limitMs: number, clock: Clock = systemClock): Promise<Examined[]> {
	return Promise.all(
		checks.map(async ({ name, run }) => {
			const { promise: tooLong, resolve } = Promise.withResolvers<Finding[]>();
			const release = clock.hold?.();
			const cancel = clock.after(limitMs, () => resolve([unchecked("it timed out")]));
			try {
				const findings = await Promise.race([run(), tooLong]);
				return { name, findings };
			} catch (error) {
				return { name, findings: [unchecked(messageOf(error))] };
			} finally {
				cancel();
				release?.();
			}
		}),
	);
}

function unchecked(why: string): Finding {
	return { level: "problem", text: `This could not be checked: ${why}` };
}

const MARKS: Record<Level, { text: string; tone: Tone }> = {
	ok: { text: "✓", tone: "good" },
	hint: { text: "!", tone: "warn" },
	problem: { text: "✗", tone: "bad" },
};

export function reportBlocks(examined: readonly Examined[]): Block[] {
	const findings = examined.flatMap((each) => each.findings);
	const count = (level: Level) => findings.filter((finding) => finding.level === level).length;
	const [problems, hints] = [count("problem"), count("hint")];
	const rows = examined.flatMap(({ name, findings }) =>
		findings.map((finding, index) => row(index === 0 ? name : "", finding)),
	);
	const counted = [
		...(problems > 0 ? [formatCount(problems, "problem")] : []),
		...(hints > 0 ? [formatCount(hints, "hint")] : []),
	];
	const verdict: Block =
		counted.length === 0
			? { text: "No problems found.", tone: "good" }
			: { text: `${counted.join(", ")}.`, tone: problems > 0 ? "bad" : "warn" };
	return [{ rows }, verdict];
}

function row(name: string, { level, text, fix }: Finding): Row {
	return {
		lead: [MARKS[level], { text: name, tone: "strong" }],
		body: [{ text }, ...(fix === undefined ? [] : [{ text: `→ ${fix}`, tone: "muted" as const }])],
	};
}
