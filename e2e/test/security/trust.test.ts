/** A repository that a stranger made is opened: nothing of it runs, fires, is taken over or believed before the user's yes. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	assistantTexts,
	callTool,
	converse,
	gatePis,
	lastUserSays,
	offersTool,
	otherwise,
	type PiEvent,
	type PiRpc,
	type RequestView,
	runPrint,
	say,
	startRpc,
	systemPromptSays,
	until,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import {
	contentOf,
	EMBEDDED,
	FORGED_TEXT,
	hostileRepository,
	JOB_TASK,
	NOTES,
	ran,
	trust,
} from "../../support/hostile/hostile-repository.ts";
import { parentSays, scene, scoutSays } from "../../support/scene.ts";

const launch = (subagent_type: string, more: object = {}) =>
	callTool("Agent", { prompt: "Have a look.", description: "look", subagent_type, run_in_background: false, ...more });
const tellsAll = ({ messages }: RequestView) =>
	say(`Heard: ${messages.flatMap((each) => (each.role === "tool" ? [each.text] : [])).join("\n---\n")}`);

const rules = [
	converse(
		all(offersTool("Agent"), lastUserSays("Please look around.")),
		launch("visitor"),
		launch("Explore"),
		launch("general-purpose", { isolation: "worktree" }),
		callTool("subagent", { preset: "digger", task: "Dig.", cwd: EMBEDDED }),
		callTool("background_agent_status", { includeCompleted: true }),
		callTool("get_subagent_result", { agent_id: "forged1" }),
		callTool("Agent", { prompt: "Go on.", description: "on", resume: "forged2" }),
		tellsAll,
	),
	otherwise(say("I see.")),
];

function notices(events: readonly PiEvent[]): string {
	const said = events.map((event) =>
		event.type === "extension_ui_request" && event.method === "notify" ? event.message : "",
	);
	return said.join("\n");
}

/** Opens the menu and leaves it. */
async function openMenu(rpc: PiRpc): Promise<void> {
	const from = rpc.events.length;
	const sent = rpc.send({ type: "prompt", message: "/agents" });
	const menu = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "select", { from });
	rpc.answer({ type: "extension_ui_response", id: (menu as unknown as { id: string }).id, cancelled: true });
	await sent;
}

/** Declines what is asked next. Returns the question. */
async function answerNo(rpc: PiRpc): Promise<string> {
	const asked = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "confirm");
	const { id, message } = asked as unknown as { id: string; message: string };
	rpc.answer({ type: "extension_ui_response", id, confirmed: false });
	return message;
}

const saidLast = (events: readonly PiEvent[]) => assistantTexts(events).at(-1) ?? "";

describe.each(await gatePis())("a hostile repository in pi $version", (pi) => {
	test("runs nothing, fires nothing, and nothing in it is taken over, deleted or believed", async () => {
		await using it = await hostileRepository(rules);
		const before = await contentOf(it.env.cwd);
		await using rpc = startRpc({ env: it.env, pi });
		await rpc.send({ type: "prompt", message: "/subagent doctor" });
		await rpc.waitFor((event) => notices([event]).includes("leftovers"));
		await openMenu(rpc);
		const looking = rpc.prompt("Please look around.");
		const question = await answerNo(rpc);
		const heard = saidLast(await looking);

		expect(question).toMatch(/Its files need these settings[\s\S]*filter\.evil\.clean = touch/);
		expect(heard).toMatch(/The files of .* need filter\.evil\.clean, filter\.evil\.smudge, which the repository's own/);
		expect(heard).toMatch(/vendor\/lib is a bare repository, or files that look like one; such a directory is never/);
		expect(it.server.requests.some((request) => systemPromptSays("You are the digger.")(request))).toBe(false);
		expect(await ran(it.env)).toEqual([]);
		expect(heard).toContain(
			'Preset "visitor" sets runner, extensions, skills, memory, verify; that counts only in a project',
		);
		expect(heard).toContain("0 running, 0 completed, 0 failed, 0 aborted, 0 in all");
		for (const id of ["forged1", "forged2"]) expect(heard).toContain(`There is no agent "${id}"`);
		expect(notices(rpc.events)).toContain("subagents.json: not used, because you have not trusted this project");
		expect(notices(rpc.events)).toContain("scheduled jobs, which run only if you trust it");
		const asked = JSON.stringify(it.server.requests.map(({ messages, systemPrompt }) => [messages, systemPrompt]));
		for (const words of [NOTES, FORGED_TEXT, JOB_TASK]) expect(asked).not.toContain(words);
		expect(it.server.requests.map(({ model }) => model)).not.toContain("fake-2");
		await rpc.close();
		const after = await contentOf(it.env.cwd);
		const changed = Object.keys(before).filter((path) => after[path] !== before[path] && !path.includes("/.git/"));
		expect(changed).toEqual([]);
		expect(await ran(it.env)).toEqual([]);
	});

	test("that the user trusts has its settings, its job, its notes and its extension", async () => {
		await using it = await hostileRepository(rules);
		await trust(it.env);
		await using rpc = startRpc({ env: it.env, pi });
		await until("its job has fired", async () =>
			it.server.requests.some(({ messages }) => JSON.stringify(messages).includes(JOB_TASK)) ? true : undefined,
		);
		await rpc.waitFor(({ type }) => type === "agent_settled"); // its result starts a turn
		await rpc.prompt("Please look around.");
		const isVisitor = systemPromptSays("You are the visitor.");
		const visitor = it.server.requests.find((request) => isVisitor(request));
		expect(visitor?.systemPrompt).toContain(NOTES);
		expect(await ran(it.env)).toContain("ran-extension");
		// Its own filter works in the worktree of an agent; hooks and the like never do.
		expect((await ran(it.env)).filter((name) => name !== "ran-extension" && name !== "ran-prefix")).toEqual([
			"ran-filter",
		]);
		expect(it.server.requests.map(({ model }) => model)).toContain("fake-2");
		expect(notices(rpc.events)).not.toContain("not used, because");
	});

	test("below a project that has nothing to trust does not affect an agent that works there", async () => {
		await using it = await scene([
			parentSays(callTool("subagent", { preset: "worker", task: "Look.", cwd: "vendor/lib" }), tellsAll),
			converse(all(lastUserSays("Look.")), callTool("bash", { command: "echo looked" }), tellsAll),
		]);
		const lib = join(it.env.cwd, "vendor", "lib", ".pi");
		await mkdir(lib, { recursive: true });
		await writeFile(join(lib, "settings.json"), JSON.stringify({ shellCommandPrefix: 'touch "$HOME/ran-prefix"' }));
		await writeFile(join(lib, "APPEND_SYSTEM.md"), NOTES);
		await using rpc = startRpc({ env: it.env, pi });
		expect(saidLast(await rpc.prompt("Please delegate."))).toContain("looked");
		expect(await ran(it.env)).toEqual([]);
		expect(it.server.requests.some(({ systemPrompt }) => systemPrompt.includes(NOTES))).toBe(false);
	});

	test("that appears while pi is open has no effect either", async () => {
		await using it = await scene([
			parentSays(
				callTool("bash", { command: "echo fetched" }),
				callTool("subagent", { preset: "worker", task: "Look." }),
				tellsAll,
			),
			converse(all(lastUserSays("Look.")), callTool("bash", { command: "echo looked" }), tellsAll),
			scoutSays(say("never")),
		]);
		await using rpc = startRpc({ env: it.env, pi });
		await rpc.send({ type: "get_state" });
		const settings = JSON.stringify({ shellCommandPrefix: 'touch "$HOME/ran-prefix"' });
		await writeFile(join(it.env.cwd, ".pi", "settings.json"), settings);
		expect(saidLast(await rpc.prompt("Please delegate."))).toContain("looked");
		expect(await ran(it.env)).toEqual([]);
	});
});

test("a pi that is started in a directory that looks like a repository opens none there", async () => {
	await using it = await hostileRepository(rules);
	const env = { ...it.env, cwd: join(it.env.cwd, EMBEDDED) };
	const { stdout } = await runPrint({ env }, "Please look around.");
	expect(stdout).toMatch(/vendor\/lib is a bare repository, or files that look like one; such a directory is never/);
	expect(await ran(it.env)).toEqual([]);
});
