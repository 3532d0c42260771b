/** Names, ids and paths that lead elsewhere, in calls and in a session file that somebody has edited, in real pi. */
import { appendFile, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	assistantTexts,
	callTool,
	converse,
	gatePis,
	lastUserSays,
	offersTool,
	type PiEvent,
	type RequestView,
	say,
	startRpc,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { footerSays, linesOf, toldIn } from "../../support/detached.ts";
import { contentOf, FORGED_TEXT, forgedRun, writeAll } from "../../support/hostile/hostile-repository.ts";
import { type Scene, scene, scoutReadsNotes } from "../../support/scene.ts";
import { fileOf } from "../../support/visits.ts";

const ELSEWHERE = ["../../etc/passwd", "..", "/etc", "a/../../b", "runs/../..", "%2e%2e%2f", "..\\..\\x", "\0"];

const tellsAll = ({ messages }: RequestView) =>
	say(`Heard: ${messages.flatMap((each) => (each.role === "tool" ? [each.text] : [])).join("\n---\n")}`);
const launch = (more: object) =>
	callTool("Agent", { prompt: "Dig.", description: "dig", subagent_type: "repo-scout", ...more });

/** Every tool that takes an id, a name or a preset. */
const calls = ELSEWHERE.flatMap((path) => [
	launch({ subagent_type: path }),
	launch({ resume: path }),
	callTool("get_subagent_result", { agent_id: path }),
	callTool("get_subagent_result", { agent_id: path, peek: { lines: 5 } }),
	callTool("steer_subagent", { agent_id: path, message: "Dig." }),
	callTool("stop_subagent", { id: path }),
	callTool("background_agent_status", { runId: path }),
	callTool("subagent", { preset: path, task: "Dig." }),
	callTool("background_agent", { preset: path, task: "Dig." }),
]);

const session = (prompt: string, ...replies: Parameters<typeof converse>[1][]) =>
	converse(all(offersTool("Agent"), lastUserSays(prompt)), ...replies);
const asks = (...ids: string[]) =>
	session(
		"Please ask.",
		...ids.map((agent_id) => callTool("get_subagent_result", { agent_id, verbose: true })),
		...ids.map((agent_id) => callTool("get_subagent_result", { agent_id, peek: { lines: 5 } })),
		tellsAll,
	);

function notices(events: readonly PiEvent[]): string {
	return events
		.map((event) => (event.type === "extension_ui_request" && event.method === "notify" ? event.message : ""))
		.join("\n");
}

/** A session file of this pi, with more entries than pi wrote. */
async function editedSession(it: Scene, pi: Pi, entries: readonly { customType: string; data: object }[]) {
	const rpc = startRpc({ env: it.env, pi });
	await rpc.prompt("Hello");
	const file = await fileOf(rpc);
	await rpc.close();
	let parentId = (await linesOf(file)).at(-1)?.id;
	for (const [index, entry] of entries.entries()) {
		const id = `f000000${index}`;
		const whole = { type: "custom", ...entry, id, parentId, timestamp: new Date().toISOString() };
		await appendFile(file, `${JSON.stringify(whole)}\n`);
		parentId = id;
	}
	return file;
}

type Pi = Awaited<ReturnType<typeof gatePis>>[number];

const launched = (runId: string, artifacts: string, runner = "process") => ({
	...{ type: "launched", runId, agentId: runId, run: 1, preset: "repo-scout", description: "dig", task: "Dig." },
	...{ cwd: "/", runner, isBackground: true, artifacts, startedAt: 1 },
});
const settled = (runId: string) => ({
	...{ type: "settled", runId, status: "completed", preview: "What the session knows.", completedAt: 2, durationMs: 1 },
	...{ turns: 1, toolUses: 0, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 } },
});

describe.each(await gatePis())("pi $version", (pi) => {
	test("no id, name or preset of a call leads to a file", async () => {
		await using it = await scene([session("Please try.", ...calls, tellsAll)]);
		const before = await contentOf(it.env.cwd);
		await using rpc = startRpc({ env: it.env, pi });
		const events = await rpc.prompt("Please try.");
		const answers = events.flatMap((event) =>
			event.type === "message_end" && event.message.role === "toolResult" ? [event.message.isError] : [],
		);
		expect(answers).toEqual(calls.map(() => true));
		for (const path of ["../..", "/etc/passwd", ".."]) {
			const from = rpc.events.length;
			await rpc.send({ type: "prompt", message: `/subagent view ${path}` });
			await rpc.waitFor((event) => /no (agent|preset)|neither/i.test(notices([event])), { from });
		}
		expect(it.server.requests.every((request) => offersTool("Agent")(request))).toBe(true);
		expect(await contentOf(it.env.cwd)).toEqual(before);
	});

	test("a session file that names places other than those of runs has nothing read or written there", async () => {
		await using it = await scene([
			when(lastUserSays("Hello"), say("Hello.")),
			asks("out1", "out2", "up1", "back1", "link1", "over1", "inner1"),
			when(lastUserSays("task-notification"), say("Noted.")),
		]);
		const { cwd, root } = it.env;
		const victim = join(root, "victim");
		const runs = join(cwd, ".pi", "subagents", "runs");
		await mkdir(runs, { recursive: true });
		for (const id of ["out1", "up1", "back1", "link1", "over1", "inner1"])
			await writeAll(join(victim, id), forgedRun(id, { isOver: id !== "out1" }));
		await symlink(join(victim, "link1"), join(runs, "link1"));
		const before = await contentOf(root.concat("/victim"));
		const file = await editedSession(it, pi, [
			{ customType: "pi-subagents:bg-run", data: launched("out1", join(victim, "out1")) },
			{ customType: "pi-subagents:bg-run", data: launched("out2", "/etc") },
			{ customType: "pi-subagents:bg-run", data: launched("up1", "../victim/up1") },
			{ customType: "pi-subagents:bg-run", data: launched("back1", `${runs}/../../../../victim/back1`) },
			{ customType: "pi-subagents:bg-run", data: launched("link1", join(runs, "link1")) },
			{ customType: "subagents:record", data: launched("inner1", join(victim, "inner1"), "session") },
			{ customType: "subagents:record", data: launched("over1", join(victim, "over1"), "session") },
			{ customType: "subagents:record", data: settled("over1") },
		]);
		await using rpc = startRpc({ env: it.env, pi, args: ["--session", file] });
		await footerSays(rpc, "0 of 5 detached running");
		await until("all are told", async () => ((await toldIn(file)).length >= 7 ? true : undefined));
		const told = new Map((await toldIn(file)).map(({ runId, status, preview }) => [runId, { status, preview }]));
		for (const id of ["out1", "out2", "up1", "back1", "link1", "inner1"])
			expect([id, told.get(id)]).toEqual([id, { status: "aborted", preview: "" }]);
		const said = assistantTexts(await rpc.prompt("Please ask.")).at(-1);
		expect(said).toContain("What the session knows.");
		expect(said).not.toContain(FORGED_TEXT);
		await rpc.close();
		expect(JSON.stringify(it.server.requests.map(({ messages }) => messages))).not.toContain(FORGED_TEXT);
		expect(await contentOf(victim)).toEqual(before);
	});

	test("a session whose id leads elsewhere keeps no conversation there", async () => {
		await using it = await scene([
			when(lastUserSays("Hello"), say("Hello.")),
			session("Please delegate.", launch({ run_in_background: false }), tellsAll),
			scoutReadsNotes,
		]);
		const file = await editedSession(it, pi, []);
		const [header, ...rest] = (await readFile(file, "utf8")).split("\n");
		const forged = { ...JSON.parse(header ?? ""), id: "../../../../victim" };
		await writeFile(file, [JSON.stringify(forged), ...rest].join("\n"));
		await using rpc = startRpc({ env: it.env, pi, args: ["--session", file] });
		expect(assistantTexts(await rpc.prompt("Please delegate.")).at(-1)).toContain("heliotrope");
		await rpc.close();
		const made = Object.keys(await contentOf(it.env.root)).filter((path) => path.includes("victim"));
		expect(made).toEqual([]);
	});
});
