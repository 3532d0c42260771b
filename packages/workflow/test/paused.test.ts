/** Workflows whose process has ended, when their session is opened again. */
import { join } from "node:path";
import {
	AgentError,
	type AgentEvent,
	Manager,
	type Outcome,
	type Runner,
	type Stop,
	systemClock,
} from "@pi-subagents/core";
import { sampleSpec } from "@pi-subagents/core/testing";
import { fileJournal, runWorkflow } from "@pi-subagents/workflow";
import { createWorkflows, openPaused } from "@pi-subagents/workflow/session";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { META } from "./support.ts";

/** A session with a workflow `w1` that was interrupted, and its journal. */
async function opened(runsDir: string, autoResume: boolean) {
	const manager: Manager = new Manager({
		runners: { workflow: { start: (...run) => workflows.runner.start(...run) } },
		clock: systemClock,
		newId: () => "unused",
	});
	const ctx = { cwd: runsDir };
	const notices: string[] = [];
	const notify = (notice: string) => void notices.push(notice);
	const workflows = createWorkflows({
		manager,
		launcher: {
			settings: async () => ({ workflows: { budgetTokens: 0 } }),
			launchSettings: async () => ({ workflows: { budgetTokens: 0 } }),
			placeFor: async () => runsDir,
		} as never,
		host: {
			agentDir: runsDir,
			storedTrust: () => false,
			packageManifests: () => [],
			warn: notify,
			parent: () => ({}),
			session: () => ctx,
		} as never,
	});
	const envelope = { agentId: "w1", run: 1, at: 1, seq: 1 };
	const agent = {
		...{ type: "workflow", description: "test", task: "A test", cwd: runsDir, runner: "workflow" as const, depth: 1 },
		...{ isBackground: true, artifacts: join(runsDir, "w1") },
	};
	const events: AgentEvent[] = [
		{ ...envelope, type: "agent_queued", agent },
		{ ...envelope, type: "agent_started" },
		{ ...envelope, type: "agent_settled", outcome: { status: "aborted", by: "shutdown" } },
	];
	manager.restore(events);
	const silenced: string[] = [];
	await openPaused(workflows.list(), workflows, ctx as never, {
		autoResume,
		notify,
		warn: notify,
		silence: ({ id, run }) => void silenced.push(`${id} ${run}`),
	});
	return { manager, workflows, notices, silenced, ctx };
}

/** A manager with a workflow whose only agent never ends. */
async function running(root: string, isBackground: boolean) {
	const endless: Runner = {
		start: () => {
			const { promise: settled, resolve } = Promise.withResolvers<Outcome>();
			const abort = (stop: Stop) => resolve({ status: "aborted", ...stop });
			return { settled, abort, steer: () => undefined, wrapUp: () => undefined };
		},
	};
	const ids = ["w1", "a1"];
	const manager: Manager = new Manager({
		runners: { session: endless, workflow: { start: (...run) => workflows.runner.start(...run) } },
		clock: systemClock,
		newId: () => ids.shift() ?? "",
	});
	const ctx = { cwd: root };
	const workflows = createWorkflows({
		manager,
		launcher: {
			launchSettings: async () => ({ workflows: { budgetTokens: 0 } }),
			placeFor: async () => join(root, ".pi", "subagents", "runs"),
			resolve: async () => ({ spec: { ...sampleSpec, runner: "session" } }),
		} as never,
		host: {
			...{ agentDir: root, storedTrust: () => false, packageManifests: () => [], warn: () => undefined },
			...{ parent: () => ({}), session: () => ctx },
		} as never,
	});
	const { promise: hasAgent, resolve: go } = Promise.withResolvers<void>();
	manager.store.subscribe(({ event }) => event.agentId === "a1" && event.type === "agent_started" && go());
	await workflows.start({ script: `${META}return await agent("Look.")` }, ctx as never, {
		...{ isBackground, launchedBy: "model" },
	});
	await hasAgent;
	return manager;
}

test.each(["shutdown", "user"] as const)(
	"one that a call waits for and that ends by %s is for the opened session to continue only if the process ended",
	async (by) => {
		await using dir = await createTempDir();
		const manager = await running(dir.path, false);
		const seen: string[] = [];
		manager.store.follow("w1", ({ event, record }) => seen.push(`${event.type} ${record.isBackground}`));
		if (by === "shutdown") await manager.shutdown({ reason: "reload" });
		else manager.abort("w1", { by });
		expect(seen).toEqual(
			by === "shutdown" ? ["moved_to_background true", "agent_settled true"] : ["agent_settled false"],
		);
		expect(await manager.wait("w1")).toMatchObject({ status: "aborted", by });
	},
);

async function finished(runsDir: string): Promise<void> {
	const journal = fileJournal(join(runsDir, "w1.workflow.jsonl"), () => undefined);
	const ports = {
		agent: async () => ({ status: "completed" as const, text: "found it", tokens: 1 }),
		ask: async () => undefined,
	};
	const script = `${META}return [await agent("Look."), 42]`;
	await runWorkflow({ id: "w1", script, journal, ports }).settled;
}

test.each([true, false])(
	"one whose result is in the journal, and nowhere else, gives it without an agent (autoResume: %s)",
	async (autoResume) => {
		await using dir = await createTempDir();
		await finished(dir.path);
		const { manager, notices, silenced } = await opened(dir.path, autoResume);
		expect(await manager.wait("w1")).toMatchObject({ status: "completed", structured: { data: ["found it", 42] } });
		expect([notices, silenced]).toEqual([[], ["w1 1"]]);
	},
);

test("one that has completed is not resumed again", async () => {
	await using dir = await createTempDir();
	await finished(dir.path);
	const { manager, workflows, ctx } = await opened(dir.path, true);
	await manager.wait("w1");
	const again = workflows.resume("w1", {}, ctx as never, { isBackground: true, launchedBy: "user" });
	await expect(again).rejects.toThrow("has completed: there is nothing to resume");
});

describe("a script names commands as its author may, whoever resumes it", () => {
	const SCRIPT = `${META}return await agent("Look.", { verify: "make" })`;

	/** A session whose workflows stop at their first agent; `asked` has who named the command, launch by launch. */
	function session(root: string) {
		const asked: unknown[] = [];
		const ids = ["w1", "a1", "a2", "a3", "a4"];
		const manager: Manager = new Manager({
			runners: { workflow: { start: (...run) => workflows.runner.start(...run) } },
			clock: systemClock,
			newId: () => ids.shift() ?? "",
		});
		const ctx = { cwd: root } as never;
		const launching = async () => ({ workflows: { budgetTokens: 0 } });
		const workflows = createWorkflows({
			manager,
			launcher: {
				settings: launching,
				launchSettings: launching,
				placeFor: async () => join(root, ".pi", "subagents", "runs"),
				resolve: async ({ verify, verifyBy }: { verify: unknown; verifyBy: unknown }) => {
					asked.push([verify, verifyBy]);
					throw new AgentError("forbidden_tool", "No.");
				},
			} as never,
			host: {
				...{ agentDir: root, storedTrust: () => false, packageManifests: () => [], warn: () => undefined },
				...{ parent: () => ({}), session: () => ctx },
			} as never,
		});
		const ended = async ({ id }: { id: string }) => void (await manager.wait(id));
		return { asked, workflows, ctx, ended };
	}

	test.each([
		["model", undefined],
		["schedule", undefined],
		["user", "user"],
		["rpc", "extension"],
	] as const)("started by %s", async (launchedBy, by) => {
		await using dir = await createTempDir();
		const { asked, workflows, ctx, ended } = session(dir.path);
		const options = { isBackground: true, launchedBy };
		await ended(await workflows.start({ script: SCRIPT }, ctx, options));
		// The user resumes it twice: the script is still that of whoever started it.
		for (let time = 0; time < 2; time++)
			await ended(await workflows.resume("w1", {}, ctx, { isBackground: true, launchedBy: "user" }));
		expect(asked).toEqual(Array(3).fill(["make", by]));
		// With a script of their own it is the user's.
		await ended(
			await workflows.resume("w1", { script: `${SCRIPT}\n` }, ctx, { isBackground: true, launchedBy: "user" }),
		);
		expect(asked.at(-1)).toEqual(["make", "user"]);
	});
});
