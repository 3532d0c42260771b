/** `/subagent doctor`: looks at everything that agents need, and says what is wrong and how to mend it. */
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { type Clock, messageOf, systemClock } from "@pi-subagents/core";
import { formatCount } from "@pi-subagents/progress";
import type { Check, Finding, Level } from "./doctor/finding.ts";
import { checkLeftovers, checkPlaces } from "./doctor/places.ts";
import { checkModels, checkPresets, checkSettings, checkTools } from "./doctor/presets.ts";
import { checkGit, checkSearch, checkTmux, checkVersions } from "./doctor/programs.ts";
import { checkWorktrees } from "./doctor/worktrees.ts";
import type { Block, Row, Tone } from "./layout.ts";
import type { CommandDeps, Subcommand } from "./subcommand.ts";

/** What takes longer is stuck, and whoever waits for the answer sits before the screen. */
const LIMIT_MS = 2_000;

export function doctorCommand(deps: CommandDeps): Subcommand {
	return {
		name: "doctor",
		args: "",
		about: "look at everything that agents need, and say what is wrong",
		run: async (_rest, ctx) => reportBlocks(await examine(checksFor(deps, ctx), LIMIT_MS)),
	};
}

function checksFor({ host, launcher, manager }: CommandDeps, ctx: ExtensionCommandContext): Check[] {
	const { cwd } = ctx;
	const { agentDir } = host;
	const parent = host.parent(ctx);
	// Read once for all that look at it. Every check that needs one awaits it from the start, so no rejection goes unheard.
	const survey = launcher.survey(ctx);
	const known = Promise.all([survey, host.facts(ctx, undefined)]);
	return [
		{ name: "versions", run: () => checkVersions() },
		{ name: "settings", run: async () => checkSettings(await survey) },
		{ name: "presets", run: async () => checkPresets(await survey) },
		{ name: "models", run: async () => checkModels(...(await known), parent) },
		{ name: "tools", run: async () => checkTools(...(await known)) },
		{ name: "search", run: () => checkSearch(agentDir, process.env) },
		{ name: "git", run: () => checkGit(cwd) },
		{ name: "tmux", run: async () => checkTmux(await survey, process.env) },
		{ name: "places", run: () => checkPlaces({ agentDir, cwd }) },
		{ name: "worktrees", run: () => checkWorktrees(agentDir) },
		{ name: "leftovers", run: () => checkLeftovers(cwd, manager.store.snapshot().records, systemClock.now()) },
	];
}

export interface Examined {
	name: string;
	findings: readonly Finding[];
}

/** All at once. A check that fails or takes too long is a finding of its own. */
export function examine(checks: readonly Check[], limitMs: number, clock: Clock = systemClock): Promise<Examined[]> {
	return Promise.all(
		checks.map(async ({ name, run }) => {
			const { promise: tooLong, resolve } = Promise.withResolvers<Finding[]>();
			const letGo = clock.hold?.();
			const cancel = clock.after(limitMs, () => resolve([unchecked("it took too long")]));
			try {
				const findings = await Promise.race([run(), tooLong]);
				return { name, findings };
			} catch (error) {
				return { name, findings: [unchecked(messageOf(error))] };
			} finally {
				cancel();
				letGo?.();
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
			? { text: "Everything is in order.", tone: "good" }
			: { text: `${counted.join(", ")}.`, tone: problems > 0 ? "bad" : "warn" };
	return [{ rows }, verdict];
}

function row(name: string, { level, text, fix }: Finding): Row {
	return {
		lead: [MARKS[level], { text: name, tone: "strong" }],
		body: [{ text }, ...(fix === undefined ? [] : [{ text: `→ ${fix}`, tone: "muted" as const }])],
	};
}
