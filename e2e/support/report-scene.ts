/** Three levels of agents in real pi, with all that a report must show: a question, a failure, a retry, a worktree, data. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
	all,
	callTool,
	callTools,
	converse,
	fail,
	httpError,
	lastUserSays,
	offersTool,
	once,
	type PiBinary,
	type PiRpc,
	type Rule,
	say,
	startRpc,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";
import { type Scene, scene } from "./scene.ts";

/** A key in the environment, which an agent repeats. */
export const SECRET = "sk-test-0123456789abcdef";
/** As `curl -u` sends it. */
export const BASIC = Buffer.from(`ada:${SECRET}`).toString("base64");
/** Longer than any expression could be that looks for it. */
const LONG_SECRET = Array.from({ length: 25_000 }, (_, index) => String.fromCharCode(97 + ((index * 7) % 26))).join("");

const preset = (name: string, more = "") =>
	`---\nname: ${name}\ndescription: ${name} of the test\nmodel: fake/fake-1\ntools: read,edit,bash\n${more}---\nYou are the ${name}.\n`;
const schema = JSON.stringify({
	type: "object",
	properties: { passed: { type: "number" }, failed: { type: "array", items: { type: "string" } } },
	required: ["passed", "failed"],
});

const files = {
	"src/parse.js": "export const parse = (text) => JSON.parse(text);\n",
	"notes.txt": "The launch code is heliotrope.\n",
	".pi/subagents/lead.md": preset("lead", "subagents: '*'\n"),
	".pi/subagents/explorer.md": preset("explorer"),
	".pi/subagents/reviewer.md": preset("reviewer"),
	".pi/subagents/fixer.md": preset("fixer", "subagents: '*'\nisolation: worktree\n"),
	".pi/subagents/tester.md": preset("tester", `output_schema: ${schema}\n`),
};

const as = (name: string) => systemPromptSays(`You are the ${name}.`);
const launch = (subagent_type: string, description: string, prompt: string) =>
	callTool("Agent", { prompt, description, subagent_type, run_in_background: false });
/** What a model needs to think, so that there is something to see on a time axis. */
const pause = (seconds: number) => callTool("bash", { command: `sleep ${seconds}` });

/** New ones for every scene: one of them answers once. */
const rules = (): Rule[] => [
	converse(
		all(offersTool("subagent"), lastUserSays("delegate")),
		callTool("subagent", { preset: "lead", task: "Make the parser safe for empty input, and prove it." }),
		say("The parser is safe now."),
	),
	converse(
		as("lead"),
		callTools(
			launch("explorer", "find every caller of parse()", "Who calls parse()? Ask if it is unclear what may break."),
			launch("reviewer", "review the parser", "Name every input that makes it throw."),
		),
		launch("fixer", "guard against empty input", "Return null for empty text, and let the tester confirm it."),
		say(`One caller, one fix, two tests. The reviewer could not be reached with ${SECRET} (Basic ${BASIC}).`),
	),
	converse(
		as("explorer"),
		callTools(callTool("read", { path: "src/parse.js" }), callTool("read", { path: "no-such-file.js" })),
		callTool("ask_main_session", { question: "May parse() return null?", context: "Nothing calls it with null yet." }),
		pause(0.3),
		say("Only the loader calls it, and null is fine there."),
	),
	when(as("reviewer"), fail("The provider has no credit left.")),
	once(when(all(as("fixer"), lastUserSays("Return null")), httpError(529, "overloaded"))),
	converse(
		as("fixer"),
		callTool("edit", {
			path: "src/parse.js",
			edits: [{ oldText: "JSON.parse(text)", newText: 'text === "" ? null : JSON.parse(text)' }],
		}),
		launch("tester", "test the fix", "Does an empty text give null?"),
		say("Fixed on a branch: empty text gives null."),
	),
	converse(as("tester"), pause(0.5), say('```json\n{"passed": 2, "failed": []}\n```')),
];

export interface ReportScene extends Scene {
	git: (...args: string[]) => Promise<string>;
}

/** The project, before anything was launched. */
export async function reportScene(): Promise<ReportScene> {
	const it = await scene(rules(), {
		files,
		models: [{ id: "fake-1", cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }],
		settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 400 } },
		variables: { REPORT_TEST_API_KEY: `${SECRET}\n`, REPORT_TEST_LONG_KEY: LONG_SECRET },
	});
	const git = async (...args: string[]) => {
		const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
		return (await promisify(execFile)("git", [...identity, ...args], { cwd: it.env.cwd })).stdout.trim();
	};
	await git("init", "--quiet", "--initial-branch=main");
	await git("add", ".");
	await git("commit", "--quiet", "-m", "first");
	return { ...it, git };
}

/** Lets it all happen, answers the question, and calls the command, which names the file that it wrote. */
export async function runAndReport({ env }: Scene, pi: PiBinary, command = "/subagent report"): Promise<string> {
	await using rpc = startRpc({ env, pi });
	const answer = await runToQuestion(rpc);
	await answer();
	await rpc.send({ type: "prompt", message: command });
	const written = await rpc.waitFor((event) => /\S+\.html/.test(JSON.stringify(event)));
	return /: (\/[^"\\]+\.html)/.exec(JSON.stringify(written))?.[1] ?? "";
}

/** Lets it happen until an agent asks the user; returns what answers and waits for the end. */
export async function runToQuestion(rpc: PiRpc): Promise<() => Promise<void>> {
	await rpc.send({ type: "prompt", message: "Please delegate." });
	const request = await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "input");
	if (request.type !== "extension_ui_request") throw new Error("no dialog");
	return async () => {
		rpc.answer({ type: "extension_ui_response", id: request.id, value: "Yes, null is fine." });
		await rpc.waitFor((event) => event.type === "agent_settled");
	};
}
