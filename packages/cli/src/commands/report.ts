/** `report` and `trace`: what runs did, their time and cost, as a page or a trace. Loaded on first use. */
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { hideFromGit, leadsInto } from "@pi-subagents/core/internal/files";
import { formatCount, sanitize } from "@pi-subagents/progress";
import {
	buildReport,
	knownSecrets,
	otlpTarget,
	otlpTraces,
	type Report,
	sendTraces,
	worktreeDiffs,
	writeHtmlReport,
	writeTrace,
} from "@pi-subagents/report";
import { type Context, Failure } from "./context.ts";
import { runsAt } from "./runs-at.ts";

export async function report(context: Context, [where]: readonly string[]): Promise<number> {
	const { flags, stdout } = context;
	const made = await reportOf(context, where);
	const path = await writeHtmlReport(made.report, await targetOf(context, made, ".html"));
	stdout.write(`Report about ${formatCount(made.report.agents.length, "run")}: ${sanitize(path)}\n`);
	if (flags.open) await openInBrowser(path);
	return 0;
}

export async function trace(context: Context, [where]: readonly string[]): Promise<number> {
	const { flags, stdout, env } = context;
	const target = flags.send ? otlpTarget(env) : undefined;
	if (flags.send && !target)
		throw new Failure("Set OTEL_EXPORTER_OTLP_ENDPOINT to the address of your collector first.");
	const made = await reportOf(context, where);
	const { TRACEPARENT: traceparent } = env;
	const options = { hasContent: flags.content, ...(traceparent === undefined ? {} : { traceparent }) };
	const what = `Trace of ${formatCount(made.report.agents.length, "run")}`;
	if (target) {
		await sendTraces(otlpTraces(made.report, options), target);
		stdout.write(`${what}: sent to ${new URL(target.url).host}\n`);
		return 0;
	}
	const format = flags.otlp ? "otlp" : "chrome";
	const file = await targetOf(context, made, `.${format}.json`);
	stdout.write(`${what}: ${sanitize(await writeTrace(made.report, file, { format, ...options }))}\n`);
	return 0;
}

interface Made {
	report: Report;
	runsDir: string;
}

async function reportOf(context: Context, where: string | undefined): Promise<Made> {
	const { agentDir, env, flags } = context;
	const isFull = flags.full;
	const full = isFull ? { isFull, diffOf: await worktreeDiffs(agentDir) } : {};
	const { runs, problems, runsDir } = await runsAt(context, where, { ...full, agentDir });
	const files = { authFile: join(agentDir, "auth.json"), modelsFile: join(agentDir, "models.json") };
	const secrets = await knownSecrets({ env, ...files });
	return { report: buildReport(runs, { now: Date.now(), isFull, problems, secrets }), runsDir };
}

/** Where `/subagent report` writes, too: beside the runs, hidden from git. */
async function targetOf({ flags, cwd }: Context, { report, runsDir }: Made, ending: string): Promise<string> {
	if (flags.out !== undefined) return resolve(cwd, flags.out);
	const beside = dirname(runsDir);
	const dir = join(beside, "reports");
	// Files of a project prove nothing: with a link, it would choose where this is written.
	if (!leadsInto(beside, dir)) throw new Failure(`${sanitize(dir)} leads elsewhere. Say with --out where to write.`);
	await mkdir(dir, { recursive: true, mode: 0o700 });
	hideFromGit(dir);
	return join(dir, `${new Date(report.createdAt).toISOString().slice(0, 19).replaceAll(":", "-")}${ending}`);
}

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", win32: "explorer" };

/** With the program that opens files here. It gets the path as an argument, without a shell. */
function openInBrowser(path: string): Promise<void> {
	const opener = OPENERS[process.platform] ?? "xdg-open";
	return new Promise((done, failed) => {
		spawn(opener, [path], { stdio: "ignore", detached: true })
			.once("error", () => failed(new Failure(`${opener} is missing, which would open it. The report is written.`)))
			.once("spawn", done)
			.unref();
	});
}
