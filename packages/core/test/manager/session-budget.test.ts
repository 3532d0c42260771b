/** What all agents of a session may use together. */
import { describe, expect, test } from "vitest";
import { type FakeRun, fakeRunner } from "../../src/testing/index.ts";
import { spec } from "../fixtures/events.ts";
import { codeOf, setUp } from "../fixtures/manager.ts";

const usage = (cost: number, cacheRead = 0) => ({
	type: "usage" as const,
	usage: { input: 0, output: 0, cacheRead, cacheWrite: 0, cost },
});
const user = { sessionCanAnswer: () => true, userCanAnswer: () => true };
const nobody = { sessionCanAnswer: () => true, userCanAnswer: () => false };
const none = { cost: 0, tokens: 0, agents: 0 };

function world(limits: Partial<typeof none>, options: Parameters<typeof setUp>[0] = {}) {
	const notices: string[] = [];
	const it = setUp({ audience: user, notify: (text) => notices.push(text), ...options });
	it.manager.setSessionBudget({ ...none, ...limits });
	return { ...it, notices };
}

describe("money", () => {
	test("of all agents together: one notice at 80 %, a question for the user at 100 %, and yes gives as much again", async () => {
		const { manager, spawn, notices, heard } = world({ cost: 1 });
		const [first, second] = [spawn(), spawn()];
		first.run.emit(usage(0.5));
		expect(notices).toEqual([]);
		second.run.emit(usage(0.3));
		second.run.emit(usage(0.1));
		expect(notices).toEqual(["The agents of this session have used $0.80 of $1.00."]);
		expect(await second.run.checkpoint?.()).toBe("go");
		first.run.emit(usage(0.2));
		const going = Promise.all([first.run.checkpoint?.(), second.run.checkpoint?.()]);
		await heard();
		expect(manager.questions()).toMatchObject([
			{
				question: "The agents of this session have used $1.10 of $1.00. May they use the same amount again? (yes/no)",
				addressee: { who: "user" },
			},
		]);
		manager.answer(first.id, "yes", "user");
		expect(await going).toEqual(["go", "go"]);
		expect(manager.sessionBudget()).toEqual(["$1.10 of $2.10"]);
	});

	test("without a user all give their answers and end; the model of the session cannot grant more", async () => {
		const { manager, spawn, heard } = world({ cost: 1 }, { audience: nobody });
		const limits = { wrapUpPercent: 10 };
		const [first, second] = [spawn({ limits }), spawn({ limits })];
		first.run.emit(usage(2));
		expect(await first.run.checkpoint?.()).toBe("go");
		expect([first, second].map(({ run }) => run.wrapUps.length)).toEqual([1, 1]);
		expect(manager.questions()).toEqual([]);
		first.run.answer("So far.");
		await heard();
		expect(await second.run.checkpoint?.()).toBe("go");
		expect(await second.run.checkpoint?.()).toBe("end");
		expect([first, second].map((agent) => agent.record()?.outcome)).toMatchObject([
			{ status: "completed", wrappedUp: true },
			{ status: "aborted", by: "budget", reason: "it used $2.00 of $1.00" },
		]);
	});

	test("tokens read from the cache count", async () => {
		const { manager, spawn, notices } = world({ tokens: 1_000 });
		spawn().run.emit(usage(0, 900));
		expect(notices).toEqual(["The agents of this session have used 900 of 1k tokens."]);
		expect(manager.sessionBudget()).toEqual(["900 of 1k tokens"]);
	});

	test("that earlier runs of the session used counts, and so does what was read from the archive", () => {
		const { manager, spawn } = world({ cost: 1 });
		const past = (agentId: string, seq: number) => {
			const envelope = { agentId, run: 1, at: 1 };
			const { type, description, task, cwd, runner, model } = spawn().run.spec;
			const agent = { type, description, task, cwd, runner, model, depth: 1, isBackground: true };
			const totals = { turns: 1, toolUses: 0, usage: usage(0.4).usage };
			const outcome = { status: "completed" as const, text: "done" };
			return [
				{ ...envelope, seq, type: "agent_queued" as const, agent },
				{ ...envelope, seq: seq + 1, type: "agent_settled" as const, outcome, totals },
			];
		};
		const [restored, archived] = [past("old", 100), past("older", 200)];
		manager.restore(restored);
		expect(manager.sessionBudget()).toEqual(["$0.40 of $1.00"]);
		manager.store.setArchive({ has: (id) => id === "older", events: () => archived });
		expect(manager.sessionBudget()).toEqual(["$0.80 of $1.00"]);
		expect(manager.store.spent().agents).toBe(4);
	});

	test("no limit, no notice, no question", async () => {
		const { manager, spawn, notices } = world({});
		const agent = spawn();
		agent.run.emit(usage(1_000));
		expect(await agent.run.checkpoint?.()).toBe("go");
		expect([notices, manager.sessionBudget()]).toEqual([[], []]);
		await manager.approveLaunch();
	});
});

describe("the number of agents", () => {
	test("at the limit a launch fails and says who can raise it", async () => {
		const { manager, spawn } = world({ agents: 2 });
		spawn();
		spawn();
		expect(codeOf(() => spawn())).toBe("refused");
		await expect(manager.approveLaunch()).rejects.toThrow(
			"The agents of this session have used 2 of 2 agents, and only the user can raise that",
		);
	});

	test("on a screen the user is asked, once for launches at the same time", async () => {
		const questions: string[] = [];
		const answers = [true, false];
		const confirm = async (question: string) => {
			questions.push(question);
			return answers.shift() ?? false;
		};
		const { manager, spawn } = world({ agents: 1 }, { confirm });
		await manager.approveLaunch();
		spawn();
		await Promise.all([manager.approveLaunch(), manager.approveLaunch()]);
		expect(questions).toHaveLength(1);
		spawn();
		await expect(manager.approveLaunch()).rejects.toThrow("2 of 2 agents");
		expect(questions).toHaveLength(2);
	});

	test("settings that stay the same keep what the user granted; others replace it", async () => {
		const { manager, spawn } = world({ agents: 1 }, { confirm: async () => true });
		spawn();
		await manager.approveLaunch();
		manager.setSessionBudget({ ...none, agents: 1 });
		expect(manager.sessionBudget()).toEqual(["1 of 2 agents"]);
		manager.setSessionBudget({ ...none, agents: 3 });
		expect(manager.sessionBudget()).toEqual(["1 of 3 agents"]);
	});
});

describe("agents that continue without this process", () => {
	const lasting = { runner: "process", outlives: true, runsDir: "/project/runs" } as const;
	const lastSaid = (runs: readonly FakeRun[]) => runs.map(({ alone }) => alone.at(-1));

	test("are told what they may use alone: when they start, at each checkpoint, and when the session ends", async () => {
		const [session, process] = [fakeRunner(), fakeRunner()];
		const { manager } = world({ tokens: 1_000, cost: 3 }, { runners: { session, process } });
		manager.spawn({ ...spec, ...lasting });
		expect(lastSaid(process.runs)).toEqual([{ budgetTokens: 1_000, budgetCost: 3 }]);
		process.runs[0]?.emit(usage(1, 200));
		expect(await process.runs[0]?.checkpoint?.()).toBe("go");
		expect(lastSaid(process.runs)).toEqual([{ budgetTokens: 1_000, budgetCost: 3 }]);
		manager.spawn({ ...spec, ...lasting });
		manager.spawn(spec);
		session.runs[0]?.emit(usage(1, 300));
		void manager.shutdown();
		expect(lastSaid(process.runs), "500 tokens and a dollar are left, half for each").toEqual([
			{ budgetTokens: 450, budgetCost: 1.5 },
			{ budgetTokens: 250, budgetCost: 0.5 },
		]);
	});

	test("may use nothing more if nothing is left, and are told nothing without a budget of the session", () => {
		const process = fakeRunner();
		const { manager } = world({ tokens: 100 }, { runners: { session: fakeRunner(), process } });
		manager.spawn({ ...spec, ...lasting });
		process.runs[0]?.emit(usage(0, 130));
		void manager.shutdown();
		expect(lastSaid(process.runs)).toEqual([{ budgetTokens: 130 }]);
		const free = fakeRunner();
		const other = world({}, { runners: { session: fakeRunner(), process: free } });
		other.manager.spawn({ ...spec, ...lasting });
		expect(free.runs[0]?.alone).toEqual([{}]);
	});
});
