/** `/subagent` in real pi: what a person does with agents without the model. */
import {
	all,
	callTool,
	createGate,
	gatePis,
	isFullRun,
	lastUserSays,
	offersTool,
	type PiRpc,
	runPrint,
	say,
	startRpc,
	startTui,
	type Terminal,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { scene, scoutSays } from "../../support/scene.ts";

const isParent = offersTool("background_agent");
const parentNotes = when(all(isParent, lastUserSays("<task-notification>")), say("I have read what the scout found."));

/** The space ends the completion, which would take Enter for itself. */
function command(tui: Terminal, text: string): void {
	tui.submit(`/subagent ${text} `);
}

async function started(tui: Terminal): Promise<string> {
	const screen = await tui.waitForText(/Started repo-scout as \w+\./);
	return /Started repo-scout as (\w+)\./.exec(screen.join("\n"))?.[1] ?? "";
}

describe.each(await gatePis())("pi $version", (pi) => {
	test("start hands a task over and goes on; the result is told, shown in a box, and can be looked at", async () => {
		const gate = createGate();
		await using it = await scene([parentNotes, scoutSays({ ...say("# Found\n\nThe code is **heliotrope**."), gate })]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 50 });
		command(tui, "start Repo-Scout: Find the launch code.");
		const id = await started(tui);
		command(tui, "list");
		await tui.waitForText(new RegExp(`1 agent: 1 running.*${id} +repo-scout +running`, "s"));
		gate.open();
		await tui.waitForText(/✓ repo-scout Find the launch code\. +[\d.]+s · 0 tools · \d+ tokens/);
		command(tui, `view ${id}`);
		await tui.waitForText(/status +Done in [\d.]+s.*launched by +you.*The code is \*\*heliotrope\*\*\./s);
		expect(it.server.requests.filter(isParent)).toEqual([]); // the model was not asked for anything
	});

	if (isFullRun)
		test("stop ends the agent that is named", async () => {
			await using it = await scene([scoutSays({ ...say("never"), gate: createGate() })]);
			await using tui = await startTui({ env: it.env, pi });
			command(tui, "start repo-scout Find the launch code.");
			const id = await started(tui);
			command(tui, `stop ${id}`);
			await tui.waitForText(`repo-scout ${id}: Stopped by you after`);
			command(tui, "list");
			await tui.waitForText(/1 agent: 1 stopped/);
		});

	test("the question of an agent that the user started is shown without a turn, and reply answers it", async () => {
		const asks = scoutSays(callTool("ask_main_session", { question: "Which colour?" }), ({ lastToolResults }) =>
			say(`I was told: ${lastToolResults[0]?.text}`),
		);
		await using it = await scene([parentNotes, asks]);
		await using tui = await startTui({ env: it.env, pi }, { rows: 50 });
		command(tui, "start repo-scout: Paint the door.");
		const id = await started(tui);
		await tui.waitForText(`Agent ${id} asks: Which colour?`);
		command(tui, `reply ${id} heliotrope`);
		await tui.waitForText(`repo-scout ${id} has your answer.`);
		await tui.waitForText("I was told: Answer from the user: heliotrope");
		expect(it.server.requests.filter(isParent)).toEqual([]);
	});

	if (isFullRun)
		test("what is not understood is said, and nothing breaks in a narrow terminal", async () => {
			await using it = await scene([]);
			await using tui = await startTui({ env: it.env, pi }, { cols: 40, rows: 60 });
			command(tui, "lsit");
			await tui.waitForText(/Unknown command\s+"\/subagent lsit"\.\s+Did\s+you\s+mean\s+"\/subagent list"\?/);
			command(tui, "doctor");
			await tui.waitForText(/✓ +presets +8 presets: 7 builtin, 1\s+project/);
			tui.resize(120, 60);
			await tui.waitForText(/✓ +presets +8 presets: 7 builtin, 1 project/);
			const shown = tui.screen().join("\n");
			expect(shown).toMatch(/✓ +versions +Node 2\d\.\d+/);
			expect(shown).toMatch(/✓ +models +1 model available; this session uses fake\/fake-1/);
			expect(shown).toMatch(/✓ +leftovers +0 runs kept/);
		});
});

test("doctor names every preset that no launch accepts, and why", async () => {
	const lines = {
		schemer: "model: inherit\noutput_schema: { type: strin }",
		stranger: "model: inherit\nlauncher: offline",
		traveller: "model: inherit\nmachine: attic",
		dreamer: "model: gone/model",
		mason: "model: inherit\ntools: raed",
	};
	const agentFiles = Object.fromEntries(
		Object.entries(lines).map(([name, line]) => [
			`subagents/${name}.md`,
			`---\nname: ${name}\ndescription: About ${name}\n${line}\n---\nDo it.\n`,
		]),
	);
	await using it = await scene([], { agentFiles });
	const { stderr } = await runPrint({ env: it.env }, "/subagent doctor");
	const said = stderr.replace(/\s+/g, " ");
	for (const name of Object.keys(lines)) expect(said).toContain(`${name} cannot be launched: `);
	expect(said).not.toContain("repo-scout cannot be launched");
	expect(said).toMatch(
		/schemer cannot be launched: `output_schema` of preset "schemer" .* is not a usable JSON Schema/,
	);
	expect(said).toMatch(/5 problems\./);
	expect(it.server.requests).toEqual([]);
});

const notice = async (rpc: PiRpc, message: string): Promise<string> => {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message });
	const event = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "notify", { from });
	return event.type === "extension_ui_request" && event.method === "notify" ? event.message : "";
};

test("rpc: the answers are notices, and the only agent at work needs no id", async () => {
	await using it = await scene([when(lastUserSays("nobody there"), { ...say("never"), gate: createGate() })]);
	await using rpc = startRpc({ env: it.env });
	expect(await notice(rpc, "/subagent view")).toMatch(/^No agent has been launched\./);
	expect(await notice(rpc, "/subagent start repo-scuot: look")).toMatch(
		/^There is no preset "repo-scuot"\. Did you mean "repo-scout"\?/,
	);
	expect(await notice(rpc, "/subagent start nobody there")).toMatch(/^Started general-purpose as/);
	expect(await notice(rpc, "/subagent stop")).toMatch(/^general-purpose \w+: Stopped by you/);
	expect(await notice(rpc, "/subagent view repo-scout")).toMatch(/^Preset repo-scout: Fast repo exploration\n/);
	expect(await notice(rpc, "/subagent start repo-scout")).toMatch(/^Say what the agent should do/);
});

test("without a word it shows the status; list all shows agents of the session before", async () => {
	await using it = await scene([scoutSays(say("The code is heliotrope.")), when(isParent, say("Hello."))]);
	{
		await using rpc = startRpc({ env: it.env });
		await rpc.prompt("Hello?"); // pi keeps no session in which the model said nothing
		expect(await notice(rpc, "/subagent start repo-scout: Find the launch code.")).toMatch(/^Started repo-scout as/);
		await rpc.waitFor((event) => event.type === "message_end" && JSON.stringify(event).includes("task-notification"));
	}
	await using rpc = startRpc({ env: it.env });
	expect(await notice(rpc, "/subagent")).toMatch(/^No agent is active\.\s+No agent has been launched\./);
	expect(await notice(rpc, "/subagent list all")).toMatch(
		/^No agent has been launched\.[\s\S]*Session [\w-]+ of \S+ \S+ UTC\s+\w+ +repo-scout +done +[\d.]+m?s +Find the launch code\./,
	);
});

test("list all shows agents of sessions that pi does not keep, and of one that is open in another pi", async () => {
	const gate = createGate();
	await using it = await scene([scoutSays({ ...say("The code is heliotrope."), gate })]);
	await using other = startRpc({ env: it.env }); // pi keeps no session in which the model said nothing
	expect(await notice(other, "/subagent start repo-scout: Find the launch code.")).toMatch(/^Started repo-scout as/);
	await using rpc = startRpc({ env: it.env });
	const sees = (status: string) =>
		expect
			.poll(() => notice(rpc, "/subagent list all"))
			.toMatch(
				new RegExp(
					`Other sessions of this project:\\s+Session [\\w-]+ of .* UTC\\s+\\w+ +repo-scout +${status} .*Find the`,
				),
			);
	await sees("running");
	gate.open();
	await sees("done");
	expect(await notice(other, "/subagent list all")).toContain("Other sessions of this project launched no agents.");
});

test("print: the answer is printed, and the model is not asked", async () => {
	await using it = await scene([]);
	const { stdout, stderr, code } = await runPrint({ env: it.env }, "/subagent agents");
	expect({ printed: `${stdout}${stderr}`, code }).toEqual({
		printed: expect.stringMatching(/Explore +builtin +Finds where.*repo-scout +project +Fast repo exploration/s),
		code: 0,
	});
	expect(it.server.requests).toEqual([]);
});
