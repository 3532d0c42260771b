/**
 * The packages as strangers install them: the example of each README must work. In the gate all libraries are installed
 * together by pnpm, which takes a seventh of the time of npm; in a full run by npm, and each is also installed alone, by
 * both package managers, and tried on every Node there is.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	createTempDir,
	isFullRun,
	type PiBinary,
	piUnderTest,
	runPrint,
	type TempDir,
} from "@pi-subagents-dev/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { availableNodes } from "../../support/packages/nodes.ts";
import { packOnce } from "../../support/packages/pack-once.ts";
import {
	installed,
	lend,
	type PackageName,
	packageNames,
	root,
	run,
	type Tarballs,
	typecheck,
} from "../../support/packages/packed.ts";
import { parentDelegates, scene, scoutReadsNotes } from "../../support/scene.ts";

const nodes = await availableNodes();
let temp: TempDir;
let tarballs: Tarballs;

beforeAll(async () => {
	temp = await createTempDir("pi-alone-");
	tarballs = await packOnce();
});
afterAll(() => temp.remove());

const firstBlock = (readme: string, language: string) =>
	new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(readme)?.[1];

/** Without what package managers put there for themselves. */
const visible = async (dir: string) => (await readdir(dir)).filter((entry) => !entry.startsWith("."));

const libraries = packageNames.filter((name) => name !== "extension");

/** What of ours a README says to install: its package, and those that its example imports as well. */
async function askedFor(name: PackageName): Promise<PackageName[]> {
	const readme = await readFile(join(root, "packages", name, "README.md"), "utf8");
	const line = /^npm install .*$/m.exec(readme)?.[0] ?? "";
	return packageNames.filter((other) => other === name || line.split(" ").includes(`@pi-subagents/${other}`));
}

/** What else it needs that is not ours, and too big to install for each. */
const BORROWED: Partial<Record<PackageName, readonly string[]>> = {
	delivery: ["typebox"],
	launch: ["typebox"],
	remote: ["typebox"],
	report: ["typebox"],
	runners: ["@earendil-works/pi-coding-agent", "typebox"],
	runs: ["typebox"],
	tools: ["@earendil-works/pi-coding-agent", "@earendil-works/pi-tui", "typebox"],
	widget: ["@earendil-works/pi-tui"],
	worktree: ["typebox"],
};

/** Each README's example, as a file of its own. Resolves with what it must print. */
async function writeExamples(dir: string, names: readonly PackageName[]): Promise<Map<string, unknown>> {
	const expected = new Map<string, unknown>();
	for (const name of names) {
		const readme = await readFile(join(dir, "node_modules/@pi-subagents", name, "README.md"), "utf8");
		await writeFile(join(dir, `${name}.ts`), firstBlock(readme, "ts") ?? "");
		expected.set(`${name}.ts`, firstBlock(readme, "text") ?? expect.stringMatching(/^scout: \w/));
	}
	return expected;
}

async function examplesWork(dir: string, names: readonly PackageName[], on: typeof nodes): Promise<void> {
	const expected = await writeExamples(dir, names);
	const types = ["--types", "node", "--typeRoots", join(root, "e2e/node_modules/@types")];
	// pi's own declarations do not pass a strict check.
	await typecheck(
		dir,
		[...expected.keys()],
		names.some((name) => ["runners", "tools"].includes(name)) ? [...types, "--skipLibCheck"] : types,
	);
	for (const node of on) {
		for (const [file, output] of expected) {
			const printed = await run(node.path, ["--disable-warning=ExperimentalWarning", file], { cwd: dir });
			expect(printed, `${file} on Node ${node.version}`).toEqual(output);
		}
	}
}

test.each(libraries)("the example of %s imports only what its README says to install", async (name) => {
	const example = firstBlock(await readFile(join(root, "packages", name, "README.md"), "utf8"), "ts") ?? "";
	const imported = Array.from(example.matchAll(/ from "@pi-subagents\/(\w+)/g), ([, ours = ""]) => ours);
	expect(await askedFor(name)).toEqual(expect.arrayContaining(imported));
});

if (isFullRun) {
	describe.each(["npm", "pnpm"] as const)("installed with %s", (manager) => {
		test.each(libraries)("%s works alone", async (name) => {
			const dir = await installed(join(temp.path, `${manager}-${name}`), await askedFor(name), { tarballs, manager });
			for (const library of BORROWED[name] ?? []) await lend(dir, library, name);
			await examplesWork(dir, [name], nodes);
		});
	});
}

let installing: Promise<string> | undefined;
/** Where all libraries are. */
function together(): Promise<string> {
	installing ??= installed(join(temp.path, "together"), libraries, { tarballs, manager: isFullRun ? "npm" : "pnpm" });
	return installing;
}

test("all libraries work together, and every entry of each loads on every Node, so nothing that it imports is missing", async () => {
	const dir = await together();
	for (const library of ["@earendil-works/pi-coding-agent", "@earendil-works/pi-tui", "typebox"])
		await lend(dir, library, "extension");
	await examplesWork(dir, libraries, nodes.slice(0, 1));
	const entries = libraries.map(async (name) => {
		const { exports } = JSON.parse(
			await readFile(join(dir, "node_modules/@pi-subagents", name, "package.json"), "utf8"),
		);
		const paths = Object.keys(exports).filter((path) => path !== "./package.json");
		return paths.map((path) => `@pi-subagents/${name}${path.slice(1)}`);
	});
	const names = (await Promise.all(entries)).flat();
	await writeFile(join(dir, "all.mjs"), names.map((name) => `import "${name}";`).join("\n"));
	for (const node of nodes) await run(node.path, ["all.mjs"], { cwd: dir });
	expect(names).toContain("@pi-subagents/runners/session");
});

test("the commands of progress and presets work", async () => {
	const dir = await together();
	const event = { type: "tool_execution_start", toolCallId: "1", toolName: "bash", args: { command: "npm test" } };
	const input = `${JSON.stringify(event)}\n`;
	expect(await run(join(dir, "node_modules/.bin/pi-progress"), [], { cwd: dir, input })).toBe("npm test\n");
	await mkdir(join(dir, ".pi/subagents"), { recursive: true });
	await writeFile(join(dir, ".pi/subagents/mapper.md"), "---\nname: mapper\ndescription: Draws maps\n---\nLook.\n");
	expect(await run(join(dir, "node_modules/.bin/pi-presets"), ["list"], { cwd: dir })).toContain("mapper");
});

test("the extension brings no dependency, and core only progress and typebox; the extension works in pi on every Node", async () => {
	const dir = await installed(join(temp.path, "few"), ["core", "extension"], { tarballs });
	expect(await visible(join(dir, "node_modules"))).toEqual(["@pi-subagents", "typebox"]);
	expect(await visible(join(dir, "node_modules/@pi-subagents"))).toEqual(["core", "extension", "progress"]);
	for (const node of nodes) {
		await using it = await scene([parentDelegates, scoutReadsNotes], {
			extensions: [join(dir, "node_modules/@pi-subagents/extension")],
		});
		const { version, command } = piUnderTest();
		const pi: PiBinary = { version, command: [node.path, ...command.slice(1)] };
		const { stdout, code } = await runPrint({ env: it.env, pi }, "Please delegate.");
		expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("The launch code is heliotrope.") });
	}
});

test("pi installs the unpacked extension, lists it, uses it, and removes it", async () => {
	await using it = await scene([parentDelegates, scoutReadsNotes], { extensions: [] });
	const { cwd, variables: env } = it.env;
	const dir = join(cwd, "packed-extension");
	await mkdir(dir);
	await run("tar", ["-xzf", tarballs.extension, "-C", dir, "--strip-components=1"], { cwd });
	const [program, ...leading] = piUnderTest().command;
	const pi = (...args: string[]) => run(program, [...leading, ...args], { cwd, env });
	expect(await pi("list")).not.toContain("packed-extension");
	await pi("install", "./packed-extension");
	expect(await pi("list")).toContain("packed-extension");
	const { stdout } = await runPrint({ env: it.env }, "Please delegate.");
	expect(stdout).toContain("The launch code is heliotrope.");
	await pi("remove", "./packed-extension");
	expect(await pi("list")).not.toContain("packed-extension");
});
