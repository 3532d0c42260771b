/** Workflow scripts in real pi: the settings that offer them, a call that runs one, and what is left of it on the disk. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { callTool, type PiEnv, type PiRpc, say } from "@pi-subagents-dev/testkit";
import { unfenced } from "./scene.ts";

/** Settings with the tool switched on. */
export const offering = (more: object = {}) => ({
	"subagents.json": JSON.stringify({ toolsets: ["presets", "workflows"], ...more }),
});

export const script = (body: string, name = "trial") =>
	`export const meta = { name: "${name}", description: "A test of ${name}" }\n${body}`;

/** The model runs a script and waits for it. */
export const runs = (body: string, more: object = {}) =>
	callTool("workflow", { script: script(body), background: false, ...more });

export const repeats = ({ lastToolResults }: { lastToolResults: readonly { text: string }[] }) =>
	say(`Got: ${unfenced(lastToolResults[0]?.text)}`);

/** With these, pi kills itself when its journal has as many entries as the file says. */
export const fuseVariables = (file: string) => ({
	JOURNAL_FUSE: file,
	NODE_OPTIONS: `--require "${fileURLToPath(new URL("journal-fuse.cjs", import.meta.url))}"`,
});

export interface JournalLine {
	type: string;
	path?: string;
	label?: string;
	agentId?: string;
	status?: string;
	value?: unknown;
}

/** The lines of the only journal; none if there is none yet. */
export async function journal({ cwd }: PiEnv): Promise<JournalLine[]> {
	const dir = join(cwd, ".pi", "subagents", "runs");
	const names = await readdir(dir).catch(() => []);
	const name = names.find((each) => each.endsWith(".workflow.jsonl"));
	if (name === undefined) return [];
	const lines = (await readFile(join(dir, name), "utf8")).split("\n").slice(0, -1);
	return lines.map((line) => JSON.parse(line));
}

/** The messages of the session that brought a result with these words. */
export async function told({ agentDir, cwd }: PiEnv, words: string): Promise<string[]> {
	const dirs = await readdir(join(agentDir, "sessions"));
	const dir = join(agentDir, "sessions", dirs.find((name) => name.includes(cwd.split("/").at(-1) ?? "")) ?? "");
	const files = (await readdir(dir)).filter((name) => name.endsWith(".jsonl"));
	const lines = await Promise.all(files.map((name) => readFile(join(dir, name), "utf8")));
	return lines
		.join("")
		.split("\n")
		.filter((line) => line.includes('"subagent-notification"') && line.includes('"custom_message"'))
		.filter((line) => line.includes(words));
}

/** What a command answers. */
export async function command(rpc: PiRpc, message: string): Promise<string> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message });
	const event = await rpc.waitFor((each) => each.type === "extension_ui_request" && each.method === "notify", { from });
	return event.type === "extension_ui_request" && event.method === "notify" ? event.message : "";
}
