/** What the offline model says: a parent that delegates, and the three agents it delegates to. */

import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { unfenced } from "@pi-subagents/progress";
import {
	callTool,
	converse,
	lastUserSays,
	otherwise,
	type Reply,
	type RequestView,
	type Rule,
	say,
	systemPromptSays,
} from "@pi-subagents-dev/testkit";

export const PROMPT = "Is this project ready to ship? Let your agents find out.";

const PRESETS = ["cartographer", "critic", "tester"] as const;

/** Slow enough to watch: how long a model thinks before it speaks, and how fast it types. Tests do not watch. */
const isFast = process.argv.includes("--fast");
const THINKING_MS = isFast ? 0 : 1_600;
const pace = isFast ? {} : { chunkSize: 6, chunkDelayMs: 40 };

/** `wait` is a factor of the time to think, so that agents do not move in step. */
const paced = (reply: Reply, wait = 1): Reply => ({ ...pace, ...reply, gate: sleep(wait * THINKING_MS) });
const tool =
	(name: string, args: Record<string, unknown>, text: string, wait = 1) =>
	() =>
		paced({ ...callTool(name, args), text }, wait);
const answer =
	(text: string, wait = 1) =>
	() =>
		paced(say(text), wait);

const task = {
	cartographer: "Map the project: which files are there, what is each for, what depends on what?",
	critic: "Read src/ and name every input that makes it throw or lie.",
	tester: "Run the tests and tell me what they cover and what they miss.",
};

const INVITATION =
	"**Your turn.** Press Alt+A or type `/agents` to read what each of them did, or mention the cartographer, the critic or the tester to ask one again. Ctrl+D quits.";

const parent = ({ hasScreen }: { hasScreen: boolean }): Rule =>
	converse(
		lastUserSays(PROMPT),
		() =>
			paced(
				{
					text: "Three questions, three agents, side by side.",
					toolCalls: PRESETS.map((preset) => ({ name: "subagent", args: { preset, task: task[preset] } })),
				},
				0.5,
			),
		({ lastToolResults }) => {
			const found = lastToolResults.map(({ text }) => `- ${unfenced(text).split("\n", 1)[0]}`);
			const lines = [
				"**Not yet.** My agents found:",
				"",
				...found,
				"",
				"Fix `Store.move` first; it is two lines and a test.",
				...(hasScreen ? ["", INVITATION] : []),
			];
			return { ...say(lines.join("\n")), ...(isFast ? {} : { chunkSize: 16, chunkDelayMs: 40 }) };
		},
	);

const cartographer: Rule = converse(
	systemPromptSays("You are the cartographer."),
	tool("ls", { path: "src" }, "", 0.7),
	() => paced({ toolCalls: ["src/tracker.js", "src/store.js"].map((path) => ({ name: "read", args: { path } })) }),
	answer(
		"Two files: `src/tracker.js` answers questions and stands on `src/store.js`, which keeps the parcels in memory.",
		1.5,
	),
);

const critic: Rule = converse(
	systemPromptSays("You are the critic."),
	tool("read", { path: "src/store.js" }, "Starting with the store, since everything stands on it."),
	tool("read", { path: "src/tracker.js" }, "`move` does not check that the parcel exists. Does its caller?"),
	answer("`Store.move` throws a TypeError for an unknown number (src/store.js, line 11); nobody above it checks."),
);

const tester: Rule = converse(
	systemPromptSays("You are the tester."),
	tool("bash", { command: "node --test" }, "", 0.9),
	tool("read", { path: "test/tracker.test.js" }, "They pass. What do they leave out?", 1.2),
	({ messages }) => paced(say(`${testSummary(messages)}; moving a parcel that was never added is not covered.`), 1.4),
);

/** The numbers that the real test run printed. */
function testSummary(messages: RequestView["messages"]): string {
	const output = messages.map(({ text }) => text).join("\n");
	const [, passed] = /pass (\d+)/.exec(output) ?? [];
	return passed === undefined ? "The tests could not be run" : `All ${passed} tests pass`;
}

/** Whatever a visitor types: naming an agent delegates to it. */
const visitor: Rule = ({ lastUserText, lastToolResults, turn, tools }) => {
	if (!tools.some(({ name }) => name === "subagent")) return undefined;
	if (turn > 1)
		return say(
			`There you have it${lastToolResults.length > 1 ? ", all of them" : ""}. Mention another one, or quit with Ctrl+D.`,
			pace,
		);
	const preset = PRESETS.find((name) => lastUserText.toLowerCase().includes(name));
	return preset
		? tool("subagent", { preset, task: lastUserText }, `I hand this to the ${preset}.`, 0.5)()
		: say(
				`I am a scripted model, so I know only my agents. Mention one of them: ${PRESETS.join(", ")}. Ctrl+D quits.`,
				pace,
			);
};

/** `hasScreen`: the user can press keys when the agents are done. */
export function rules(options: { hasScreen: boolean }): Rule[] {
	return [parent(options), cartographer, critic, tester, visitor, otherwise(say("…"))];
}

/** The project that they look at. */
export async function projectFiles(): Promise<Record<string, string>> {
	const root = fileURLToPath(new URL("project", import.meta.url));
	const entries = await readdir(root, { recursive: true, withFileTypes: true });
	const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	return Object.fromEntries(
		await Promise.all(paths.map(async (path) => [relative(root, path), await readFile(path, "utf8")])),
	);
}
