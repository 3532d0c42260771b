/** Agents that outlive the session that started them, in real pi. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	callTool,
	converse,
	createGate,
	gatePis,
	lastUserSays,
	offersTool,
	runPrint,
	say,
	startRpc,
	startTui,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { jsonOf } from "../../support/detached.ts";
import { isScout, parentSays, type Scene, scene, scoutReadsNotes, scoutSays, unfenced } from "../../support/scene.ts";

const launch = (task = "Find the launch code.") => callTool("background_agent", { preset: "repo-scout", task });
const startsIt = parentSays(launch(), ({ lastToolResults }) => say(`Launched: ${lastToolResults[0]?.text}`));
const looks = converse(
	all(offersTool("background_agent_status"), lastUserSays("look")),
	({ lastUserText }) =>
		callTool("background_agent_status", {
			includeCompleted: true,
			...(lastUserText.match(/run (\S+)/) ? { runId: RegExp.$1 } : {}),
		}),
	({ lastToolResults }) => say(`Seen: ${unfenced(lastToolResults[0]?.text)}`),
);
const runsDir = (it: Scene) => join(it.env.cwd, ".pi", "subagents", "runs");
const runIds = async (it: Scene) => (await readdir(runsDir(it))).filter((name) => name !== ".gitignore");

/** Resolves when the run's result is written. */
function result(it: Scene, runId: string): Promise<{ outcome: { status: string; text?: string } }> {
	return until("the run has a result", () => jsonOf(join(runsDir(it), runId, "result.json")));
}

describe.each(await gatePis())("pi $version", (pi) => {
	test("the call returns before the child has asked its model, and pi ends without waiting for it", async () => {
		const gate = createGate();
		await using it = await scene([startsIt, scoutSays({ ...say("The code is heliotrope."), gate })]);
		const { stdout, code } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect({ stdout, code }).toEqual({
			stdout: expect.stringMatching(
				/Launched: Background run \S+ \(repo-scout\) is running\. 1 running, .* 1 in all\./,
			),
			code: 0,
		});
		const parentRequests = it.server.requests.filter((request) => !isScout(request)).length;
		expect(parentRequests).toBe(2);
		expect(it.server.requests.slice(0, 2).some(isScout)).toBe(false);

		gate.open();
		const [runId = ""] = await runIds(it);
		expect((await result(it, runId)).outcome).toEqual({ status: "completed", text: "The code is heliotrope." });
	});

	test("the reopened session delivers it once, and the model can read it", async () => {
		await using it = await scene([
			startsIt,
			scoutReadsNotes,
			when(lastUserSays("Anything new?"), ({ messages }) => {
				const notices = messages.filter(({ text }) => text.includes("<task-notification>")).length;
				return say(`I was told ${notices} times.`);
			}),
		]);
		await runPrint({ env: it.env, pi }, "Please delegate.");
		const [runId = ""] = await runIds(it);
		await result(it, runId);
		for (const _again of [1, 2]) {
			const { stdout } = await runPrint({ env: it.env, pi, args: ["--continue"] }, "Anything new?");
			expect(stdout).toContain("I was told 1 times.");
		}
	});

	test("rpc: a message announces the end, and starts no turn", async () => {
		const gate = createGate();
		await using it = await scene([startsIt, looks, scoutSays({ ...say("The code is heliotrope."), gate })]);
		await using rpc = startRpc({ env: it.env, pi });
		await rpc.prompt("Please delegate.");
		const from = rpc.events.length;
		gate.open();
		await rpc.waitFor(
			(event) =>
				event.type === "extension_ui_request" &&
				event.method === "setStatus" &&
				event.statusText === "agents: 0 of 1 detached running",
		);
		await rpc.waitFor(
			(event) =>
				event.type === "extension_ui_request" && event.method === "notify" && event.message.includes("Done in"),
		);
		const message = await rpc.waitFor((event) => event.type === "message_end" && event.message.role === "custom", {
			from,
		});
		expect(JSON.stringify(message)).toContain("heliotrope");
		expect(rpc.events.slice(from).some((event) => event.type === "agent_start")).toBe(false);

		const [runId = ""] = await runIds(it);
		const events = await rpc.prompt(`Please look at run ${runId}`);
		expect(JSON.stringify(events)).toContain("0 running, 1 completed, 0 failed, 0 aborted, 1 in all");
		expect(JSON.stringify(events)).toContain("The code is heliotrope.");
		const looked = events.find((event) => event.type === "tool_execution_end");
		const result = {
			text: "The code is heliotrope.",
			textPath: join(runsDir(it), runId, "result.json"),
			stopReason: "stop",
			model: "fake/fake-1",
			usage: expect.objectContaining({ input: expect.any(Number), output: expect.any(Number) }),
		};
		expect(looked).toMatchObject({ result: { details: { runs: [{ runId, status: "completed", result }] } } });
	});

	test("interactive: the footer counts, /reload keeps it, and its end is shown", async () => {
		const gate = createGate();
		await using it = await scene([startsIt, scoutSays({ ...say("The code is heliotrope."), gate })]);
		await using tui = await startTui({ env: it.env, pi });
		tui.submit("Please delegate.");
		await tui.waitForText("1 of 1 detached running");
		await tui.waitForText("Launched:");
		tui.submit("/reload ");
		await tui.waitForText("Reloaded");
		await tui.waitForText("1 of 1 detached running");
		gate.open();
		await tui.waitForText("0 of 1 detached running");
		await tui.waitForText("The code is heliotrope.");
	});
});
