/** What Escape does to agents, by the setting `interrupt`. And what must never follow it: a turn behind the user's back. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	callTool,
	callTools,
	converse,
	createGate,
	type Gate,
	gatePis,
	hang,
	isFullRun,
	lastUserSays,
	type PiBinary,
	type Reply,
	say,
	startTui,
	type Terminal,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { enter } from "../../support/keys.ts";
import { extensionDir, isScout, isSession, type Scene, scene } from "../../support/scene.ts";

const NEWS = "<task-notification>";
const isDigger = all(isScout, lastUserSays("Dig slowly."));
const isAwaited = all(isScout, lastUserSays("Be waited for."));

const digs = callTool("Agent", { prompt: "Dig slowly.", description: "dig", subagent_type: "repo-scout" });
const waits = callTool("subagent", { preset: "repo-scout", task: "Be waited for." });

/** A session whose digger works in the background until the gate opens. */
interface Dig extends Scene {
	tui: Terminal;
	gate: Gate;
}

interface Plan {
	/** What the session does besides. Default: it waits for another agent. */
	session?: readonly Reply[];
	/** What the digger does when the gate is open. Default: it finds gold. */
	digger?: (gate: Gate) => readonly Reply[];
	/** What the agent that is waited for answers. Default: nothing, ever. */
	awaited?: (gate: Gate) => Reply;
	settings?: Record<string, unknown>;
	/** Another extension, as code. */
	beside?: string;
}

async function dig(pi: PiBinary, plan: Plan = {}): Promise<Dig> {
	const gate = createGate();
	const { session = [callTools(digs, waits)], digger = (shut: Gate) => [say("Found gold.", { gate: shut })] } = plan;
	const it = await scene(
		[
			converse(all(isSession, lastUserSays("Please dig.")), ...session),
			when(all(isSession, lastUserSays(NEWS)), ({ lastUserText }) => say(`News: ${lastUserText.match(/Found \w+/g)}`)),
			when(all(isSession, lastUserSays("<subagent-question")), say("The user decides how deep.")),
			when(all(isSession, lastUserSays("Are you there?")), say("Yes, here.")),
			converse(isDigger, ...digger(gate)),
			when(isAwaited, plan.awaited?.(gate) ?? hang()),
		],
		{
			agentFiles: { "subagents.json": JSON.stringify(plan.settings ?? {}) },
			...(plan.beside && { files: { "beside.ts": plan.beside }, extensions: [extensionDir, "beside.ts"] }),
		},
	);
	const tui = await startTui({ env: it.env, pi }, { rows: 60 });
	enter(tui, "Please dig.");
	await it.server.nextRequest(isDigger);
	return { ...it, tui, gate };
}

/** Resolves when so many agents have ended. */
async function ended({ env }: Scene, count: number): Promise<void> {
	const runs = join(env.cwd, ".pi", "subagents", "runs");
	await until(`${count} agents have ended`, async () => {
		const files = await readdir(runs, { recursive: true });
		return files.filter((name) => name.endsWith("result.json")).length === count || undefined;
	});
}

/** The turns that began with a message from an agent, each with whether the user had spoken before. */
function toldTurns({ server }: Scene): { text: string; hasSpoken: boolean }[] {
	return server.requests
		.filter(({ lastUserText }) => /<task-notification>|<subagent-question/.test(lastUserText))
		.map(({ lastUserText: text, messages }) => ({
			text,
			hasSpoken: messages.some((message) => message.text.includes("Are you there?")),
		}));
}

/** The digger finds gold, the list says so, and a turn says so only after the user has spoken. */
async function expectNewsWhenSpoken(it: Dig, list: string): Promise<void> {
	const { tui, gate } = it;
	gate.open();
	await ended(it, Number.parseInt(list, 10));
	enter(tui, "/subagent list");
	await tui.waitForText(list);
	enter(tui, "Are you there?");
	await tui.waitForText("News: Found gold");
	expect(toldTurns(it)).toEqual([{ text: expect.stringContaining("Found gold."), hasSpoken: true }]);
}

const pis = await gatePis();
const modern = pis.filter(({ version }) => !version.startsWith("0."));

describe.each(isFullRun ? modern : [])("pi $version", (pi) => {
	test("a stop after the session's last words is one, too", async () => {
		const beside = `export default (pi) => {
			let isStopped = false;
			pi.on("agent_before_settle", (_event, ctx) => {
				if (!isStopped) ctx.abort();
				isStopped = true;
			});
		};`;
		await using it = await dig(pi, { session: [digs, say("Dug.")], beside });
		await it.tui.waitForText("Dug.");
		await expectNewsWhenSpoken(it, "1 agent: 1 done");
	});
});

describe.each(pis)("pi $version", (pi) => {
	test("agents that the turn waits for stop; background agents continue, and are reported after the user's next message", async () => {
		await using it = await dig(pi);
		const { tui, server } = it;
		await server.nextRequest(isAwaited);
		tui.press("escape");
		await tui.waitForText("Stopped by you");
		await server.nextRequest((request) => isAwaited(request) && request.aborted);
		await expectNewsWhenSpoken(it, "2 agents: 1 done, 1 stopped");
	});

	if (isFullRun)
		test("the same when it is the session's own words that are broken off", async () => {
			await using it = await dig(pi, { session: [digs, hang()] });
			const { tui, server } = it;
			const talking = await server.nextRequest((request) => isSession(request) && request.turn === 2);
			tui.press("escape");
			await server.nextRequest((request) => request.number === talking.number && request.aborted);
			await tui.waitForText("aborted");
			await expectNewsWhenSpoken(it, "1 agent: 1 done");
		});

	test("a question from the background waits for the user as well", async () => {
		await using it = await dig(pi, {
			digger: (gate) => [callTool("ask_main_session", { question: "How deep?" }, { gate }), say("Found gold.")],
		});
		const { tui, server, gate } = it;
		await server.nextRequest(isAwaited);
		tui.press("escape");
		await tui.waitForText("Stopped by you");
		gate.open();
		await until(
			"the digger asks",
			async () => {
				enter(tui, "/subagent list");
				return tui.screen().join("\n").includes("asks: How deep?") || undefined;
			},
			250,
		);
		enter(tui, "Are you there?");
		await tui.waitForText("The user decides how deep.");
		expect(toldTurns(it)).toEqual([{ text: expect.stringContaining("How deep?"), hasSpoken: true }]);
	});

	test("interrupt all: what is in the background stops, too, and that starts no turn", async () => {
		await using it = await dig(pi, { settings: { interrupt: "all" } });
		const { tui, server } = it;
		await server.nextRequest(isAwaited);
		tui.press("escape");
		await server.nextRequest((request) => isAwaited(request) && request.aborted);
		await server.nextRequest((request) => isDigger(request) && request.aborted);
		await ended(it, 2);
		enter(tui, "/subagent list");
		await tui.waitForText("2 agents: 2 stopped");
		enter(tui, "Are you there?");
		await tui.waitForText(/■ repo-scout dig .*\n +Stopped by you/);
		expect(toldTurns(it)).toEqual([]);
	});

	test("interrupt none: what the turn waited for goes on in the background, and both are told", async () => {
		await using it = await dig(pi, {
			awaited: (gate) => say("Found iron.", { gate }),
			settings: { interrupt: "none" },
		});
		const { tui, server, gate } = it;
		await server.nextRequest(isAwaited);
		tui.press("escape");
		await tui.waitForText(/No longer waiting for: \w+\. A message will bring the result\./);
		gate.open();
		await ended(it, 2);
		enter(tui, "/subagent list");
		await tui.waitForText("2 agents: 2 done");
		enter(tui, "Are you there?");
		await tui.waitForText(/News: Found (gold,Found iron|iron,Found gold)/);
		expect(toldTurns(it)).toEqual([{ text: expect.stringContaining("Found iron."), hasSpoken: true }]);
	});
});
