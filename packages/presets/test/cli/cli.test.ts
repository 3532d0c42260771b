import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runCli } from "../../src/cli/cli.ts";
import { preset, tree } from "../support.ts";

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url));

interface Said {
	code: number | null;
	out: string;
	err: string;
}

/** Runs `pi-presets` as a real process. */
function program(root: string, ...args: string[]): Promise<Said> {
	return new Promise((resolve) => {
		const env = { ...process.env, HOME: root, PI_CODING_AGENT_DIR: join(root, "home") };
		const child = spawn(process.execPath, ["--conditions=@pi-subagents/source", bin, ...args], {
			cwd: root,
			env,
			stdio: ["ignore", "pipe", "pipe"],
		});
		const text = { out: "", err: "" };
		child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text.out += chunk));
		child.stderr.setEncoding("utf8").on("data", (chunk: string) => (text.err += chunk));
		child.on("close", (code) => resolve({ code, ...text }));
	});
}

/** What that process does, in this one, since a start of Node takes longer than any of these commands. */
async function cli(root: string, ...args: string[]): Promise<Said> {
	const text = { out: "", err: "" };
	const code = await runCli(args, {
		cwd: root,
		home: root,
		env: { PI_CODING_AGENT_DIR: join(root, "home") },
		version: () => "",
		columns: undefined,
		out: (more) => (text.out += more),
		err: (more) => (text.err += more),
	});
	return { code, ...text };
}

const files = {
	"home/subagents/tester.md": preset("tester", "model: a/b\ntools: read, bash\nmax_turns: 7\n", "Test it.\u001b[2J"),
	".pi/subagents/worker.md": preset("Worker", "model: inherit\nsubagents: none\n"),
	".claude/agents/helper.md": "---\nname: helper\ndescription: d\ntools: Read\n---\nHelp.",
};

test("list prints an aligned table of all presets", async () => {
	const { code, out, err } = await program(await tree(files), "list");
	expect([code, err]).toEqual([0, ""]);
	expect(out).toMatch(/^NAME +SOURCE +MODEL +TOOLS +DESCRIPTION\n/);
	expect(out).toMatch(/^tester +global subagents +a\/b +read,bash +About tester$/m);
	expect(out).toMatch(/^Worker +project subagents +inherit +\(default\) +About Worker$/m);
	expect(out.trim().split("\n")).toHaveLength(9);
	const columns = out
		.trim()
		.split("\n")
		.map((line) => line.indexOf(line.split(/ {2,}/)[1] ?? ""));
	expect(new Set(columns).size).toBe(1);
});

test("--all adds imports, --json prints everything", async () => {
	const { code, out } = await cli(await tree(files), "list", "--all", "--json");
	expect(code).toBe(0);
	const { presets, problems } = JSON.parse(out);
	expect(problems).toEqual([]);
	expect(presets.map(({ name }: { name: string }) => name)).toContain("helper");
	expect(presets).toHaveLength(9);
});

test("show prints every value with its origin, what it replaces, and the prompt without escapes", async () => {
	const root = await tree(files);
	const shown = await cli(root, "show", "TESTER");
	expect(shown.code).toBe(0);
	expect(shown.out).toContain("max_turns          7  [home/subagents/tester.md:6]");
	expect(shown.out).toContain("enabled            true  [default]");
	expect(shown.out).toMatch(/\n\nTest it\.\[2J\n$/);
	expect((await cli(root, "show", "worker")).out).toContain("replaces builtin builtin:worker.md");
	const json = JSON.parse((await cli(root, "show", "worker", "--json")).out);
	expect(json.preset).toMatchObject({ name: "Worker", subagents: [], replaces: [{ path: "builtin:worker.md" }] });
});

test("show of an unknown name suggests one and fails", async () => {
	const { code, out, err } = await program(await tree(files), "show", "testr");
	expect([code, out, err]).toEqual([1, "", 'pi-presets: there is no preset "testr": did you mean "tester"?\n']);
});

test("lint prints file:line:column, counts, and fails on errors", async () => {
	const root = await tree({
		".pi/subagents/x.md": preset("x", "model: m\nmodle: y\nthinking: many\n"),
		".pi/subagents/\u001b[31m.md": "",
	});
	const { code, out } = await cli(root, "lint");
	expect(code).toBe(1);
	expect(out.split("\n")).toEqual([
		expect.stringMatching(/^\.pi\/subagents\/\.md:1:1: error: the file has no frontmatter/),
		'.pi/subagents/x.md:5:1: warning: unknown field "modle": did you mean "model"?',
		'.pi/subagents/x.md:6:1: error: "thinking" must be `off`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`, but is "many"; the field is ignored',
		"8 presets, 2 errors, 1 warning",
		"",
	]);
	const json = await cli(root, "lint", ".pi/subagents/x.md", "--json");
	expect(json.code).toBe(1);
	expect(JSON.parse(json.out)).toMatchObject({
		presets: 1,
		errors: 1,
		warnings: 1,
		problems: [{ line: 5 }, { line: 6 }],
	});
});

test("lint of good files succeeds", async () => {
	const { code, out } = await cli(await tree(files), "lint");
	expect([code, out]).toEqual([0, "8 presets, 0 errors, 0 warnings\n"]);
});

test("--cwd and --agent-dir choose the places", async () => {
	const root = await tree({ "there/.pi/subagents/p.md": preset("p"), "pi/subagents/g.md": preset("g") });
	const { out } = await cli(root, "list", "--cwd", "there", "--agent-dir", join(root, "pi"));
	expect(out).toMatch(/^g +global/m);
	expect(out).toMatch(/^p +project/m);
});

test.each([
	[[], "a command is missing"],
	[["lits"], 'unknown command "lits": did you mean "list"?'],
	[["list", "extra"], "list takes no arguments"],
	[["show"], "show takes one name"],
	[["list", "--frob"], 'unknown option "--frob"\n'],
	[["list", "-x"], 'unknown option "-x"\n'],
	[["list", "--jsno"], 'unknown option "--jsno": did you mean "--json"?\n'],
	[["list", "--json=yes"], '"--json" takes no value\n'],
	[["list", "--cwd"], '"--cwd" needs a directory\n'],
	[["list", "--cwd", "--json"], '"--cwd" needs a directory\n'],
	[["list", "--cwd", "missing"], '"--cwd" is not a directory: '],
])("%j is wrong usage", async (args, message) => {
	const { code, out, err } = await cli(await tree(), ...args);
	expect([code, out]).toEqual([2, ""]);
	expect(err).toContain(`pi-presets: ${message}`);
	expect(err).toContain("Usage: pi-presets");
});

test("--help prints the usage", async () => {
	const { code, out } = await cli(await tree(), "--help");
	expect(code).toBe(0);
	expect(out).toContain("Usage: pi-presets");
	expect(out).toContain("settings, such as `builtins` and `agentOverrides`");
});

test("--version prints the version of the package", async () => {
	const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8"));
	expect(await program(await tree(), "--version")).toEqual({ code: 0, out: `${manifest.version}\n`, err: "" });
});

test("an --agent-dir that is not there holds no presets", async () => {
	expect(await cli(await tree(), "list", "--agent-dir", "missing")).toMatchObject({ code: 0, err: "" });
});

const broken = {
	".pi/subagents/z.md": preset("a", "model: m\noutput_repairs: many\nthinking: hard\n"),
	"home/subagents/my-explore.md": "---\nname: Explore\ntools: [read\n---\nLook.",
};

test("list tells problems in the order of lint", async () => {
	const root = await tree(broken);
	const [list, lint] = [await cli(root, "list"), await cli(root, "lint")];
	expect(list.err.split("\n").map((line) => line.split(": ")[0])).toEqual([
		".pi/subagents/z.md:5:1",
		".pi/subagents/z.md:6:1",
		"home/subagents/my-explore.md:3:13",
		"home/subagents/my-explore.md:3:13",
		"",
	]);
	expect(lint.out).toBe(`${list.err}7 presets, 4 errors, 0 warnings\n`); // and nothing about the built-in planner
});

test("show of a preset whose file is broken begins with the reason", async () => {
	const { code, out, err } = await cli(await tree(broken), "show", "explore");
	expect([code, out]).toEqual([1, ""]);
	expect(err.split("\n")).toEqual([
		expect.stringMatching(/^home\/subagents\/my-explore\.md:3:13: error: the frontmatter is not valid YAML/),
		'home/subagents/my-explore.md:3:13: error: the preset "Explore" is unavailable until this file is fixed or removed',
		'pi-presets: the preset "explore" cannot be used until this is fixed',
		"",
	]);
});

test.each([
	[".pi", ".pi/subagents"],
	["home", "home/agents"],
	[".", ".pi/subagents"],
])("lint of %s, which only holds a directory of presets, names that one and fails", async (path, meant) => {
	const root = await tree({ ".pi/subagents/a.md": preset("a"), "home/agents/b.md": preset("b") });
	const { code, out } = await cli(root, "lint", path);
	expect([code, out]).toEqual([
		1,
		`${path === "." ? root : path}: error: no presets here; did you mean ${meant}?\n0 presets, 1 error, 0 warnings\n`,
	]);
});

test("lint counts one as one", async () => {
	const { code, out } = await cli(await tree({ "p/a.md": preset("a") }), "lint", "p");
	expect([code, out.split("\n").at(-2)]).toEqual([0, "1 preset, 0 errors, 1 warning"]);
});

test("a terminal obeys nothing in what is printed, and JSON says the same", async () => {
	const evil = "\u009b2J\u202e\u0085";
	const root = await tree({ ".pi/subagents/x.md": preset("x", "", `Prompt ${evil}`) });
	for (const args of [
		["list"],
		["list", "--json"],
		["show", "x"],
		["show", "x", "--json"],
		["lint"],
		[evil],
		["show", evil],
	]) {
		const { out, err } = await cli(root, ...args);
		expect([args, /[\u007f-\u009f\u202e]/.exec(out + err)]).toEqual([args, null]);
	}
	expect(JSON.parse((await cli(root, "show", "x", "--json")).out).preset.prompt).toBe("Prompt 2J\u202e");
});
