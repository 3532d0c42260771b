/** The user's own text for the `Agent` tool, as the model of real pi reads it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { otherwise, type PiRpc, runJson, say, startRpc } from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { type Scene, scene } from "../../support/scene.ts";

const FILE = "agent-tool-description.md";
const textOf = (it: Scene) => it.server.requests.at(-1)?.tools.find(({ name }) => name === "Agent")?.description;

async function reload(rpc: PiRpc): Promise<void> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message: "/again" });
	await rpc.waitFor(
		(event) => event.type === "extension_ui_request" && event.method === "setStatus" && event.statusText === "again",
		{ from },
	);
}

/** RPC mode has no /reload of its own. */
const reloader = `export default (pi) => {
	pi.on("session_start", (event, ctx) => ctx.ui.setStatus("again", event.reason === "reload" ? "again" : undefined));
	pi.registerCommand("again", { handler: (_args, ctx) => ctx.reload() });
};\n`;

test("rpc: it replaces ours, follows the file with a reload, and problems are said and found by doctor", async () => {
	await using it = await scene([otherwise(say("Hello."))], {
		agentFiles: { [FILE]: "My own words.\n{{typeList}}\n{{oops}}\n", "reloader.ts": reloader },
	});
	await using rpc = startRpc({ env: it.env, args: ["-e", join(it.env.agentDir, "reloader.ts")] });
	await rpc.prompt("Hello?");
	expect(textOf(it)).toMatch(
		/^My own words\.\n- Explore: .*\(Tools: read, .*\)\n[\s\S]*- repo-scout: Fast repo exploration \(Tools: read, grep, find, ls\)\n[\s\S]*\{\{oops\}\}$/,
	);
	const said = () =>
		rpc.events.flatMap((event) =>
			event.type === "extension_ui_request" && event.method === "notify" ? [event.message] : [],
		);
	expect(said().join("\n")).toContain("agent-tool-description.md:3: {{oops}} is no placeholder");
	await rpc.send({ type: "prompt", message: "/subagent doctor" });
	await rpc.waitFor(
		(event) =>
			event.type === "extension_ui_request" &&
			event.method === "notify" &&
			/tool text[\s\S]*\{\{oops\}\}\s+is\s+no\s+placeholder/.test(event.message),
	);

	await writeFile(join(it.env.agentDir, FILE), "Other words.\n");
	await rpc.prompt("Hello again?");
	expect(textOf(it)).toMatch(/^My own words\./); // the prompt cache stays whole while the session is open
	await reload(rpc);
	await rpc.prompt("And now?");
	expect(textOf(it)).toBe("Other words.");
});

test("json: a project's text counts only with stored trust", async () => {
	await using it = await scene([otherwise(say("Hello."))], { files: { [`.pi/${FILE}`]: "Words of the project.\n" } });
	const first = await runJson({ env: it.env }, "Hello?");
	expect(textOf(it)).toMatch(/^Hand a task to an agent/);
	expect(first.stderr).toContain(`${FILE}: not used, because you have not trusted this project`);
	await trust(it.env);
	const second = await runJson({ env: it.env }, "Hello?");
	expect([textOf(it), second.stderr]).toEqual(["Words of the project.", ""]);
});
