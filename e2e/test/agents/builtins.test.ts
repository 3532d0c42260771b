/** pi's own extensions since 1.0, which `--no-extensions` disables: an agent has the one whose tool its preset names. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
	callTool,
	converse,
	isFullRun,
	type PiBinary,
	runPrint,
	say,
	secondPi,
	systemPromptSays,
} from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { parentSays, scene, unfenced } from "../../support/scene.ts";

const second = await secondPi();
const runners = isFullRun ? ["session", "process"] : ["session"];
const script = `const notes = await tools.read({ path: "notes.txt" });
let written = "written";
try { await tools.write({ path: "forbidden.txt", content: "x" }); } catch (error) { written = "refused"; }
text(notes.trim() + " " + written);`;

const preset = (fields: string) =>
	`---\nname: scripter\ndescription: x\nmodel: fake/fake-1\n${fields}\n---\nYou are the scripter.\n`;

async function once(pi: PiBinary, fields: string) {
	const isScripter = systemPromptSays("You are the scripter.");
	await using it = await scene(
		[
			parentSays(callTool("subagent", { preset: "scripter", task: "Run it." }), ({ lastToolResults }) =>
				say(unfenced(lastToolResults[0]?.text)),
			),
			converse(isScripter, callTool("codemode", { code: script }), ({ lastToolResults }) =>
				say(`The script says: ${lastToolResults[0]?.text}`),
			),
		],
		{ agentFiles: { "subagents/scripter.md": preset(fields) } },
	);
	const { stdout, stderr } = await runPrint({ env: it.env, pi }, "Please delegate.");
	return {
		said: stdout + stderr,
		tools: it.server.requests.find((each) => isScripter(each))?.tools.map(({ name }) => name),
		hasWritten: existsSync(join(it.env.cwd, "forbidden.txt")),
	};
}

test.skipIf(!second).each(runners)(
	"a preset names codemode, whose scripts call the agent's tools and no others (%s)",
	async (runner) => {
		const { said, tools, hasWritten } = await once(second as PiBinary, `tools: read, codemode\nrunner: ${runner}`);
		expect(said).toContain("The launch code is heliotrope. refused");
		expect(tools?.filter((name) => name !== "ask_main_session").sort()).toEqual(["codemode", "read"]);
		expect(hasWritten).toBe(false);
	},
);
