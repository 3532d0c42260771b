/** Every example from packed tarballs, in a directory that knows nothing of this workspace: it must be typed right and work. */
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
	callTool,
	converse,
	createPiEnv,
	createTempDir,
	isFullRun,
	lastUserSays,
	runJson,
	say,
	startModelServer,
	startRpc,
	systemPromptSays,
	type TempDir,
} from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packOnce } from "../../support/packages/pack-once.ts";
import { install, lend, root, run, type Tarballs, typecheck } from "../../support/packages/packed.ts";
import { askForRisks, riskRules } from "../../support/packages/risks.ts";

const examples = join(root, "examples");
const node = (...args: string[]) => [process.execPath, ["--disable-warning=ExperimentalWarning", ...args]] as const;

let temp: TempDir;
let tarballs: Tarballs;

beforeAll(async () => {
	temp = await createTempDir("pi-examples-");
	tarballs = await packOnce();
});
afterAll(() => temp.remove());

/** Those that need pi, which the workspace lends, and those that must work where there is none. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
	plain: ["ci-log", "custom-runner", "inbox", "preset-cli", "resolve", "schedule-only"],
	beside: ["foreign-tree", "headless-manager", "rpc-extension", "subagent-tool"],
};

/** Leaves out what `npm run example` makes in the clone. */
const isOfTheExample = (path: string) => !/[\\/](?:node_modules|jobs|inbox\.jsonl)$/.test(path);

/** A directory that holds these examples, with everything installed there that they depend on, checked by the compiler. */
async function installedExamples(dir: string, names: readonly string[]): Promise<void> {
	const copies = names.map(async (name) => {
		await cp(join(examples, name), join(dir, name), { recursive: true, filter: isOfTheExample });
		const { dependencies } = JSON.parse(await readFile(join(dir, name, "package.json"), "utf8"));
		return dependencies as Record<string, string>;
	});
	const dependencies: Record<string, string> = Object.assign({}, ...(await Promise.all(copies)));
	await writeFile(join(dir, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
	await install(dir, { tarballs, manager: isFullRun ? "npm" : "pnpm" });
	const lent = Object.keys(dependencies).filter((library) => library.startsWith("@earendil-works/"));
	for (const library of lent) await lend(dir, library, "extension");
	const files = names.map(async (name) => (await readdir(join(dir, name))).map((file) => join(name, file)));
	const sources = (await Promise.all(files)).flat().filter((file) => file.endsWith(".ts"));
	const types = ["--types", "node", "--typeRoots", join(root, "e2e/node_modules/@types"), "--skipLibCheck"];
	await typecheck(dir, sources, types);
}

const inProgress = new Map<string, Promise<void>>();

/** A copy that works. In the gate those of a group are installed together; in a full run each is alone. */
async function example(name: string): Promise<string> {
	const group = Object.keys(GROUPS).find((each) => GROUPS[each]?.includes(name)) ?? name;
	const [place, names] = isFullRun ? [`alone-${name}`, [name]] : [group, GROUPS[group] ?? [name]];
	const dir = join(temp.path, place);
	const done = inProgress.get(dir) ?? installedExamples(dir, names);
	inProgress.set(dir, done);
	await done;
	return join(dir, name);
}

/** What was installed for an example. */
const modulesOf = (dir: string) => readdir(join(dirname(dir), "node_modules"));

/** What the README says that is printed. */
async function promised(dir: string): Promise<string | undefined> {
	return /^```text\n(.*?)^```$/ms.exec(await readFile(join(dir, "README.md"), "utf8"))?.[1];
}

test("every example is listed, and has a short README", async () => {
	const entries = await readdir(examples, { withFileTypes: true });
	const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
	const list = await readFile(join(examples, "README.md"), "utf8");
	expect([...list.matchAll(/^\| \[([\w-]+)\]/gm)].map(([, name]) => name).sort()).toEqual(names.sort());
	for (const name of names.filter((each) => each !== "demo")) {
		const readme = await readFile(join(examples, name, "README.md"), "utf8");
		expect(readme.split("\n").length, name).toBeLessThanOrEqual(30);
	}
});

test("ci-log", async () => {
	const cwd = await example("ci-log");
	const input = await readFile(join(cwd, "session.jsonl"), "utf8");
	expect(await run(...node("main.ts"), { cwd, input })).toBe(await promised(cwd));
	const failed = JSON.stringify({
		type: "message_end",
		message: { role: "assistant", content: [], stopReason: "error", errorMessage: "out of credit" },
	});
	await expect(run(...node("main.ts"), { cwd, input: failed })).rejects.toThrow("error: Model error: out of credit");
});

test("preset-cli", async () => {
	const cwd = await example("preset-cli");
	const env = { ...process.env, PI_CODING_AGENT_DIR: join(cwd, "nobody's") };
	expect(await run(...node("cli.ts"), { cwd, env })).toBe(await promised(cwd));
	expect(await run(...node("cli.ts", "Translator"), { cwd, env })).toContain("Keep placeholders as they are.");
	await expect(run(...node("cli.ts", "nobody"), { cwd, env })).rejects.toThrow(
		/broken\.md:4 "tools" must be .*There is no preset "nobody"/s,
	);
});

test("resolve, where no pi is installed", async () => {
	const cwd = await example("resolve");
	expect(await modulesOf(cwd)).not.toContain("@earendil-works");
	expect(await run(...node("main.ts"), { cwd })).toBe(await promised(cwd));
	expect(await run(...node("main.ts", "Explore"), { cwd })).toContain("read, grep, find, ls (preset)");
	await expect(run(...node("main.ts", "reviwer"), { cwd })).rejects.toThrow('Did you mean "reviewer"?');
});

test("foreign-tree", async () => {
	const cwd = await example("foreign-tree");
	expect(await run(...node("main.ts"), { cwd })).toBe(await promised(cwd));
});

test("headless-manager", async () => {
	await using server = await startModelServer({
		rules: [
			converse(systemPromptSays("You are the mapper."), callTool("ls", { path: "." }), say("One file.")),
			converse(systemPromptSays("You are the judge."), say("Looks fine.")),
		],
	});
	const preset = (name: string) =>
		`---\nname: ${name}\ndescription: The ${name}\nmodel: inherit\n---\nYou are the ${name}.\n`;
	await using env = await createPiEnv({
		server,
		agentFiles: { "subagents/mapper.md": preset("mapper"), "subagents/judge.md": preset("judge") },
		files: { "notes.txt": "Nothing yet.\n" },
	});
	const main = join(await example("headless-manager"), "main.ts");
	const here = { cwd: env.cwd, env: env.variables };
	const printed = await run(...node(main, "What is here?", "mapper", "judge"), here);
	expect(printed).toContain("mapper: Listing .\n");
	expect(printed).toMatch(/^## mapper: Completed, \S+ tokens\nOne file\.$/m);
	expect(printed).toMatch(/^## judge: Completed, \S+ tokens\nLooks fine\.$/m);
	await expect(run(...node(main, "What is here?", "nobody"), here)).rejects.toThrow("There is no preset nobody.");
});

test("custom-runner passes the conformance suite", async () => {
	const cwd = await example("custom-runner");
	const printed = await run(...node("--test"), { cwd });
	expect(printed).toMatch(/^# pass [1-9]\d+$/m);
	expect(printed).toMatch(/^# fail 0$/m);
});

test("schedule-only", async () => {
	const cwd = await example("schedule-only");
	expect(await run(...node("main.ts"), { cwd })).toBe(await promised(cwd));
});

test("inbox gets each answer once, where no pi is installed", async () => {
	const cwd = await example("inbox");
	expect(await modulesOf(cwd)).not.toContain("@earendil-works");
	expect(await run(...node("main.ts"), { cwd })).toBe(await promised(cwd));
});

test("subagent-tool: somebody else's extension offers the tool in real pi", async () => {
	const dir = await example("subagent-tool");
	await using server = await startModelServer({
		rules: [
			converse(systemPromptSays("You are the mapper."), say("One file.")),
			converse(
				lastUserSays("Ask the mapper"),
				callTool("subagent", { preset: "mapper", task: "What is here?" }),
				({ lastToolResults }) => say(`It says: ${lastToolResults[0]?.text}`),
			),
		],
	});
	const mapper = "---\nname: mapper\ndescription: Knows the way\nmodel: inherit\n---\nYou are the mapper.\n";
	await using env = await createPiEnv({ server, agentFiles: { "subagents/mapper.md": mapper } });
	const { code, stderr, events } = await runJson({ env, extensions: [dir] }, "Ask the mapper.");
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	expect(server.requests[0]?.tools.map(({ name }) => name)).toContain("subagent");
	expect(JSON.stringify(events)).toMatch(/It says: .*One file\..*\[agent [0-9a-z]{8} \(mapper\): Completed in /);
});

test("rpc-extension gets checked data from an agent of the other extension, and says when there is none", async () => {
	const dir = await example("rpc-extension");
	const extension = join(temp.path, "other");
	await mkdir(extension);
	await run("tar", ["-xzf", tarballs.extension, "-C", extension, "--strip-components=1"], { cwd: temp.path });
	await using server = await startModelServer({ rules: riskRules });
	await using env = await createPiEnv({ server, files: { "src/store.js": "", "src/tracker.js": "" } });
	for (const order of [
		[dir, extension],
		[extension, dir],
	])
		expect(await askForRisks(env, order)).toBe("1 risky: src/store.js");
	await using alone = startRpc({ env, extensions: [dir] });
	await alone.send({ type: "prompt", message: "/risks src" });
	const said = await alone.waitFor((event) => event.type === "extension_error");
	expect(JSON.stringify(said)).toContain("No sub-agent server answered");
});

if (isFullRun) {
	test("the four uses, each from tarballs in an empty directory, are one command", async () => {
		const printed = await run(...node(join(root, "e2e/uses.ts")), { cwd: temp.path });
		for (const shown of ["Reading src/auth.ts", "translator", "1 risky: src/store.js", "packed-extension"])
			expect(printed).toContain(shown);
	});
}
