/** Providers and models that only an extension knows: children share the parent's, or say before they begin that they lack it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { availablePis, callTool, gateCases, isFullRun, type PiBinary, runPrint } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { homegrown } from "../../support/extensions/homegrown.ts";
import { parentSays, type Scene, scene, scoutReadsNotes, unfenced } from "../../support/scene.ts";

const pis = await availablePis();
const modern = pis.filter(({ version }) => !version.startsWith("0."));

const preset = (fields: string) =>
	`---\nname: outsider\ndescription: x\ntools: read\n${fields}\n---\nYou are the repo scout.\n`;
const delegating = (model: string, preset = "outsider") =>
	parentSays(callTool("subagent", { preset, task: "Find the launch code.", model }), ({ lastToolResults }) => ({
		text: unfenced(lastToolResults[0]?.text),
	}));
const inProcess = (fields = "") => ({ "subagents/outsider.md": preset(`runner: process\n${fields}`) });

async function ask(it: Scene, pi: PiBinary, extension?: string): Promise<string> {
	const file = join(it.env.root, "homegrown.ts");
	if (extension !== undefined) await writeFile(file, `export default (pi) => ${extension};\n`);
	const extensions = extension === undefined ? [] : [file];
	const { stdout, stderr } = await runPrint({ env: it.env, pi, extensions }, "Please delegate.");
	return stdout + stderr;
}

const withHomegrown = (it: Scene) =>
	`pi.registerProvider("homegrown", ${JSON.stringify(homegrown(it.server.baseUrl))})`;
const models = (it: Scene) => it.server.requests.map(({ model }) => model);

describe.each(isFullRun ? pis : modern)("pi $version", (pi) => {
	test("a child runs on a model that another extension registered", async () => {
		await using it = await scene([delegating("homegrown/oak", "repo-scout"), scoutReadsNotes]);
		expect(await ask(it, pi, withHomegrown(it))).toContain("The launch code is heliotrope.");
		expect(models(it)).toContain("oak");
	});

	const withoutIt = [
		["", "Give preset"],
		["extensions: other", "Name the extension in `extensions` of its preset"],
	] as const;
	test.each(gateCases(withoutIt, 1))(
		"a child in its own process that does not load the extension (`%s`) asks no other model",
		async (fields, reason) => {
			// Without the extension, pi would take the model of that name of any other provider.
			const others = [{ id: "fake-1" }, { id: "oak" }, { id: "homegrown/oak" }];
			const agentFiles = { ...inProcess(fields), "extensions/other.ts": "export default () => undefined;\n" };
			const options = { agentFiles, models: others };
			await using it = await scene([delegating("homegrown/oak"), scoutReadsNotes], options);
			const said = await ask(it, pi, withHomegrown(it));
			expect(said).toContain("Model homegrown/oak comes from an extension");
			expect(said).toContain(reason);
			expect(models(it)).not.toContain("homegrown/oak");
		},
	);

	test("a child in its own process runs on it if its preset asks for the extension, though it was given with -e", async () => {
		await using it = await scene([delegating("homegrown/oak"), scoutReadsNotes], {
			agentFiles: inProcess("extensions: true"),
		});
		expect(await ask(it, pi, withHomegrown(it))).toContain("The launch code is heliotrope.");
		expect(models(it)).toContain("oak");
	});
});

describe.each(modern)("pi $version", (pi) => {
	const virtual = `pi.registerVirtualModel({ provider: "fake", id: "auto", name: "Auto",
		route: (_, ctx) => ({ model: ctx.modelRegistry.find("fake", "fake-1"), thinkingLevel: "off" }) })`;

	test("a virtual model works inside pi, and is not taken for a name of the provider in a process that lacks it", async () => {
		await using inside = await scene([delegating("fake/auto", "repo-scout"), scoutReadsNotes]);
		expect(await ask(inside, pi, virtual)).toContain("The launch code is heliotrope.");
		await using it = await scene([delegating("fake/auto"), scoutReadsNotes], { agentFiles: inProcess() });
		expect(await ask(it, pi, virtual)).toContain("Model fake/auto comes from an extension");
		expect(models(it)).not.toContain("auto");
	});

	test("a child in its own process keeps pi's own llama.cpp provider", async () => {
		await using it = await scene([delegating("llama.cpp/gemma"), scoutReadsNotes], {
			agentFiles: inProcess(),
		});
		const url = it.server.baseUrl.replace(/\/v1$/, "");
		const { models: [gemma] = [] } = homegrown(it.server.baseUrl) as { models?: object[] };
		const model = { ...gemma, id: "gemma", provider: "llama.cpp", api: "openai-completions", baseUrl: `${url}/v1` };
		const files = {
			"auth.json": { "llama.cpp": { type: "api_key", key: "local", env: { LLAMA_BASE_URL: url } } },
			"models-store.json": { "llama.cpp": { models: [model] } },
		};
		for (const [name, content] of Object.entries(files))
			await writeFile(join(it.env.agentDir, name), JSON.stringify(content), { mode: 0o600 });
		expect(await ask(it, pi)).toContain("The launch code is heliotrope.");
		expect(models(it)).toContain("gemma");
	});
});
