/** `/subagent dashboard`: the report of this session as a page that follows it, on this machine only, until the session ends. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { AgentError } from "@pi-subagents/core";
import { quoted } from "@pi-subagents/core/internal/base";
import type { RunCache } from "@pi-subagents/report";
import type { Dashboard, ReportSource } from "@pi-subagents/report/dashboard";
import type { Block } from "@pi-subagents/widget/dialogs";
import type { CommandDeps, Subcommand } from "../subcommand.ts";
import { loadDashboard } from "./report.lazy.ts";
import { currentReport, type SessionEntries } from "./session-report.ts";

const USAGE = "/subagent dashboard [--full|stop]";

const WORDS: Readonly<Record<string, { isFull?: true; isStop?: true }>> = {
	"": {},
	"--full": { isFull: true },
	stop: { isStop: true },
};

interface Opened {
	dashboard: Dashboard;
	isFull: boolean;
}

export function dashboardCommand(pi: ExtensionAPI, deps: CommandDeps): Subcommand {
	let opened: Promise<Opened> | undefined;
	let isTied = false;
	return {
		name: "dashboard",
		args: "[--full|stop]",
		about: "show this session's agents live in a browser on this machine",
		completions: () => [{ value: "stop", label: "stop", description: "close the dashboard" }],
		async run(rest, ctx) {
			const wanted = Object.hasOwn(WORDS, rest.trim()) ? WORDS[rest.trim()] : undefined;
			if (!wanted) throw new AgentError("bad_request", `Unknown argument ${quoted(rest.trim())}: use ${USAGE}.`);
			if (wanted.isStop) return (await close()) ? [CLOSED] : [{ text: "There is no dashboard.", tone: "muted" }];
			if (!ctx.hasUI)
				throw new AgentError("bad_request", "The dashboard needs a screen, which is where its link is shown.");
			const isFull = wanted.isFull ?? false;
			if (opened && (await opened).isFull !== isFull) await close(); // its old link stops working
			opened ??= open(ctx, isFull).catch((error) => {
				opened = undefined; // the next call tries again
				throw error;
			});
			const { dashboard } = await opened;
			// The link holds the token. A note would be kept in the session file; a notice is kept nowhere.
			ctx.ui.notify(`Dashboard, for you alone: ${dashboard.link}`, "info");
			return [{ text: "The dashboard is open until this session ends. Its link is not kept anywhere.", tone: "muted" }];
		},
	};

	async function open(ctx: ExtensionContext, isFull: boolean): Promise<Opened> {
		if (!isTied) pi.on("session_shutdown", async () => void (await close()));
		isTied = true;
		const { serveDashboard } = await loadDashboard();
		const source = sessionSource(deps, ctx.sessionManager, isFull);
		return { isFull, dashboard: await serveDashboard({ source }) };
	}

	async function close(): Promise<boolean> {
		const closing = opened;
		opened = undefined;
		await (await closing)?.dashboard.close();
		return closing !== undefined;
	}
}

const CLOSED: Block = { text: "The dashboard is closed.", tone: "muted" };

/** The runs of the session that is open now, masked as in a report. */
function sessionSource(deps: CommandDeps, session: SessionEntries, isFull: boolean): ReportSource {
	const cache: RunCache = new Map();
	return {
		watch: (onChange) => deps.manager.store.subscribe(onChange),
		read: () => currentReport(deps, session, { isFull, cache }),
	};
}
