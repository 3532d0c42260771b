import { chown, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
	agentsDirs,
	allSources,
	builtins,
	claudeImport,
	directory,
	discoverPresets,
	findPreset,
	findPresetRoot,
	opencodeImport,
	packagePresets,
	subagentsDirs,
} from "../../src/index.ts";
import { preset, put, told, tree } from "../support.ts";

/** Places in a temporary tree: `home` is pi's directory, `repo` the project. */
function places(root: string, cwd = "repo") {
	return { agentDir: join(root, "home"), cwd: join(root, cwd) };
}

describe("the two `subagents` directories", () => {
	test("presets come from the global and the project directory", async () => {
		const root = await tree({ "home/subagents/g.md": preset("g"), "repo/.pi/subagents/p.md": preset("p") });
		const { presets, problems } = await discoverPresets(places(root));
		expect(problems).toEqual([]);
		expect(presets.map(({ name, source, path }) => [name, source, path])).toEqual([
			["g", { kind: "global", flavour: "subagents", inProject: false }, join(root, "home/subagents/g.md")],
			["p", { kind: "project", flavour: "subagents", inProject: true }, join(root, "repo/.pi/subagents/p.md")],
		]);
	});

	test("a project preset overrides a global one by name, whatever its case, and says what it replaced", async () => {
		const root = await tree({
			"home/subagents/a.md": preset("Scout", "model: global\n"),
			"repo/.pi/subagents/b.md": preset("scout", "model: project\n"),
		});
		const { presets, problems } = await discoverPresets(places(root));
		expect(problems).toEqual([]);
		expect(presets).toMatchObject([
			{
				name: "scout",
				model: "project",
				replaces: [{ source: { kind: "global" }, path: join(root, "home/subagents/a.md") }],
			},
		]);
	});

	test("the nearest ancestor counts, and only that one", async () => {
		const root = await tree({
			"repo/.pi/subagents/far.md": preset("far"),
			"repo/app/.pi/subagents/near.md": preset("near"),
			"repo/app/src/deep/file.txt": "",
		});
		const { presets } = await discoverPresets(places(root, "repo/app/src/deep"));
		expect(presets.map(({ name }) => name)).toEqual(["near"]);
		expect(await findPresetRoot(join(root, "repo/app/src/deep"))).toBe(join(root, "repo/app"));
	});

	test("a `.pi/subagents` without a `.md` file is no root: runs live there", async () => {
		const root = await tree({
			"repo/.pi/subagents/p.md": preset("p"),
			"repo/app/.pi/subagents/runs/r1/meta.json": "{}",
			"repo/app/.pi/subagents/odd.md/inner.txt": "a directory does not count",
		});
		expect(await findPresetRoot(join(root, "repo/app"))).toBe(join(root, "repo"));
		expect((await discoverPresets(places(root, "repo/app"))).presets.map(({ name }) => name)).toEqual(["p"]);
	});

	test("nothing anywhere is nothing, not an error", async () => {
		const root = await tree();
		expect(await discoverPresets(places(root, "not/there"))).toEqual({ presets: [], problems: [] });
		expect(await findPresetRoot(join(root, "not/there"))).toBeUndefined();
	});

	test("only `.md` files directly in the directory are presets, and `agents` is not looked at", async () => {
		const root = await tree({
			"home/subagents/a.md": preset("a"),
			"home/subagents/b.MD": preset("b"),
			"home/subagents/c.txt": preset("c"),
			"home/subagents/sub/d.md": preset("d"),
			"home/agents/e.md": preset("e"),
			"repo/.pi/agents/f.md": preset("f"),
		});
		expect((await discoverPresets(places(root))).presets.map(({ name }) => name)).toEqual(["a", "b"]);
	});

	test("one broken file harms no other", async () => {
		const root = await tree({
			"home/subagents/bad.md": "---\nname: [unclosed\n---\n",
			"home/subagents/good.md": preset("good"),
		});
		const { presets, problems } = await discoverPresets(places(root));
		expect(presets.map(({ name }) => name)).toEqual(["good"]);
		expect(problems).toMatchObject([{ path: join(root, "home/subagents/bad.md"), line: 2, severity: "error" }]);
	});

	test("two files of one name: the first by file name wins, the other is a problem", async () => {
		const root = await tree({
			"home/subagents/b.md": preset("Same", "model: b\n"),
			"home/subagents/a.md": preset("same", "model: a\n"),
		});
		const { presets, problems } = await discoverPresets(places(root));
		expect(presets).toMatchObject([{ name: "same", model: "a" }]);
		expect(told(problems)).toEqual([
			`2: error: the name "Same" is already used by ${join(root, "home/subagents/a.md")}: rename one of them; this file is ignored`,
		]);
	});

	test("a directory that is both global and the project's is the user's own", async () => {
		const root = await tree({ "repo/.pi/subagents/a.md": preset("a") });
		const { presets } = await discoverPresets({ cwd: join(root, "repo"), agentDir: join(root, "repo/.pi") });
		expect(presets).toMatchObject([{ name: "a", source: { kind: "global" } }]);
		expect(presets[0]?.replaces).toBeUndefined();
	});
});

describe("a broken file keeps its name taken", () => {
	test("so that a wider preset below it does not answer instead", async () => {
		const root = await tree({ "home/subagents/x.md": preset("worker", "tools: {read: yes}\n") });
		const { presets, problems } = await discoverPresets({
			...places(root),
			sources: [...builtins(), ...subagentsDirs()],
		});
		expect(findPreset(presets, "worker")).toBeUndefined();
		expect(presets).toHaveLength(6);
		expect(told(problems).at(-1)).toBe(
			'4: error: the preset "worker" is unavailable until this file is fixed or removed',
		);
	});

	test("a valid one above it, or beside it, is not affected", async () => {
		const broken = preset("x", "tools: {read: yes}\n");
		const root = await tree({
			"home/subagents/a.md": broken,
			"home/subagents/b.md": preset("x"),
			"repo/.pi/subagents/c.md": preset("x"),
		});
		expect((await discoverPresets({ ...places(root), sources: subagentsDirs().slice(0, 1) })).presets).toMatchObject([
			{ path: join(root, "home/subagents/b.md") },
		]);
		expect((await discoverPresets(places(root))).presets).toMatchObject([
			{ path: join(root, "repo/.pi/subagents/c.md") },
		]);
	});
});

describe("more sources", () => {
	test("precedence is that of the sources, not of the order in which they are given", async () => {
		const layers = [
			"repo/.opencode/agents",
			"home/agents",
			"home/subagents",
			"repo/.agents/agents",
			"repo/.pi/agents",
			"repo/.pi/subagents",
		];
		const files = Object.fromEntries(layers.map((layer) => [`${layer}/worker.md`, preset("worker")]));
		const root = await tree({
			...files,
			"pkg/package.json": JSON.stringify({ pi: { subagents: ["./agents"] } }),
			"pkg/agents/worker.md": preset("worker"),
			"user/.claude/agents/worker.md": preset("worker"),
		});
		const home = join(root, "user");
		const sources = allSources({ home, manifests: [join(root, "pkg/package.json")] });
		for (const order of [sources, [...sources].reverse()]) {
			const { presets, problems } = await discoverPresets({ ...places(root), sources: order });
			expect(problems).toEqual([]);
			const worker = findPreset(presets, "WORKER");
			expect([worker?.path, ...(worker?.replaces ?? []).map(({ path }) => path)]).toEqual([
				...[...layers].reverse().map((layer) => join(root, layer, "worker.md")),
				join(home, ".claude/agents/worker.md"),
				join(root, "pkg/agents/worker.md"),
				"builtin:worker.md",
			]);
		}
	});

	test("`agents` directories replace the prompt and need neither name nor description", async () => {
		const root = await tree({
			"home/agents/free.md": "Just do it.",
			"repo/.agents/agents/other.md": "---\nmodel: m\n---\n",
		});
		const { presets, problems } = await discoverPresets({ ...places(root, "repo/a/b"), sources: agentsDirs() });
		expect(problems).toEqual([]);
		expect(presets).toMatchObject([
			{ name: "free", promptMode: "replace", source: { kind: "global", flavour: "agents" } },
			{ name: "other", model: "m", source: { kind: "project", flavour: "agents", inProject: true } },
		]);
	});

	test("imports are read from the user's and the project's directories", async () => {
		const root = await tree({
			"user/.claude/agents/one.md": "---\nname: one\ndescription: d\ntools: Read, Glob\n---\n",
			"repo/.claude/agents/two.md": "---\nname: two\ndescription: d\n---\n",
			"user/.config/opencode/agent/three.md": "---\ndescription: d\n---\n",
			"repo/.opencode/agents/four.md": "---\ndescription: d\n---\n",
		});
		const home = join(root, "user");
		const sources = [...claudeImport({ home }), ...opencodeImport({ home })];
		const { presets } = await discoverPresets({ ...places(root), sources });
		expect(presets.map(({ name, source }) => [name, source.flavour, source.inProject])).toEqual([
			["four", "opencode", true],
			["one", "claude", false],
			["three", "opencode", false],
			["two", "claude", true],
		]);
	});

	test("any directory can be a source", async () => {
		const root = await tree({ "mine/a.md": preset("a") });
		const sources = directory(join(root, "mine"), { kind: "project" });
		expect((await discoverPresets({ ...places(root), sources })).presets).toMatchObject([
			{ name: "a", source: { kind: "project", flavour: "subagents", inProject: true } },
		]);
	});

	test("a disabled preset hides what it replaces and stays visible as disabled", async () => {
		const root = await tree({ "home/subagents/p.md": preset("Plan", "enabled: false\n") });
		const { presets } = await discoverPresets({ ...places(root), sources: [...builtins(), ...subagentsDirs()] });
		expect(findPreset(presets, "plan")).toMatchObject({ enabled: false, replaces: [{ path: "builtin:Plan.md" }] });
	});
});

describe("packages", () => {
	const find = (root: string, ...manifests: string[]) =>
		discoverPresets({ ...places(root), sources: packagePresets(manifests.map((path) => join(root, path))) });

	test("ship directories, patterns and files", async () => {
		const root = await tree({
			"a/package.json": JSON.stringify({ pi: { subagents: ["./one", "two/*.md", "three.md"] } }),
			"a/one/x.md": preset("x"),
			"a/two/y.md": preset("y"),
			"a/three.md": preset("z"),
			"b/package.json": JSON.stringify({ pi: { subagents: "agents" } }),
			"b/agents/w.md": preset("w"),
			"c/package.json": JSON.stringify({ name: "no presets" }),
		});
		const { presets, problems } = await find(root, "a/package.json", "b/package.json", "c/package.json");
		expect(problems).toEqual([]);
		expect(presets.map(({ name, source }) => [name, source.kind])).toEqual(
			["w", "x", "y", "z"].map((name) => [name, "package"]),
		);
	});

	test("count only when they are named, where some are", async () => {
		const manifest = (name: string) => JSON.stringify({ name, pi: { subagents: "agents" } });
		const root = await tree({
			"a/package.json": manifest("pi-team"),
			"a/agents/x.md": preset("x"),
			"b/package.json": manifest("@acme/agents"),
			"b/agents/y.md": preset("y"),
			"c/package.json": manifest("other"),
			"c/agents/z.md": preset("z"),
		});
		const manifests = ["a", "b", "c"].map((name) => join(root, name, "package.json"));
		const namesOf = async (only: string[]) =>
			(await discoverPresets({ ...places(root), sources: packagePresets(manifests, { only }) })).presets.map(
				({ name }) => name,
			);
		expect(await namesOf(["pi-team", "npm:@acme/agents@1.2.0"])).toEqual(["x", "y"]);
		expect(await namesOf([])).toEqual([]);
	});

	test("that were made for other extensions are understood", async () => {
		const root = await tree({
			"a/package.json": JSON.stringify({ pi: { subagents: { agents: ["./agents"], workflows: ["./flows"] } } }),
			"a/agents/x.md": preset("x"),
			"b/package.json": JSON.stringify({ "pi-subagents": { agents: ["./agents"] } }),
			"b/agents/y.md": preset("y"),
			"c/package.json": JSON.stringify({ "pi-subagents": ["z.md"] }),
			"c/z.md": preset("z"),
		});
		const { presets, problems } = await find(root, "a/package.json", "b/package.json", "c/package.json");
		expect([presets.map(({ name }) => name), problems]).toEqual([["x", "y", "z"], []]);
	});

	test("cannot reach outside of themselves", async () => {
		const root = await tree({
			"a/package.json": JSON.stringify({ pi: { subagents: ["../secret", "/etc", "x/../../secret", "a\0b"] } }),
			"secret/s.md": preset("s"),
		});
		const { presets, problems } = await find(root, "a/package.json");
		expect(presets).toEqual([]);
		expect(problems.map(({ message }) => message)).toEqual(
			["../secret", "/etc", "x/../../secret", "ab"].map(
				(path) => `"pi.subagents" names "${path}", which is outside the package: move it inside`,
			),
		);
	});

	test("with broken manifests are problems", async () => {
		const root = await tree({
			"a/package.json": "{",
			"b/package.json": '{"pi":{"subagents":[1]}}',
			"c/package.json": "null",
		});
		const { problems } = await find(root, "a/package.json", "b/package.json", "c/package.json", "d/package.json");
		expect(problems.map(({ path, severity }) => [path, severity]).sort()).toEqual(
			["a", "b", "d"].map((name) => [join(root, name, "package.json"), "error"]),
		);
		const missing = await find(root, "d/package.json", "a/package.json/package.json");
		expect(missing.problems.map(({ message }) => message)).toEqual(
			Array(2).fill("the package manifest does not exist"),
		);
	});
});

test("findPreset ignores case and knows no prototypes", async () => {
	const { presets } = await discoverPresets({ cwd: "/", agentDir: "/nowhere", sources: builtins() });
	expect(findPreset(presets, "EXPLORE")?.name).toBe("Explore");
	expect(findPreset(presets, "__proto__")).toBeUndefined();
	expect(findPreset(presets, "constructor")).toBeUndefined();
});

test("a linked directory is a directory", async () => {
	const root = await tree({ "shared/a.md": preset("a") });
	await mkdir(join(root, "repo/.pi"), { recursive: true });
	await symlink(join(root, "shared"), join(root, "repo/.pi/subagents"));
	expect((await discoverPresets(places(root))).presets.map(({ name }) => name)).toEqual(["a"]);
	await put(join(root, "shared/b.md"), preset("b"));
	expect((await discoverPresets(places(root))).presets.map(({ name }) => name)).toEqual(["a", "b"]);
});

describe.runIf(process.getuid?.() === 0)("a directory of another user", () => {
	const STRANGER = 65_534;
	const OTHER = 65_533;

	test("above the project is not used, says so, and what lies above that is", async () => {
		const root = await tree({
			"top/.pi/subagents/fine.md": preset("fine"),
			"top/shared/.pi/subagents/evil.md": preset("evil"),
			"top/shared/repo/x.txt": "",
		});
		await chown(join(root, "top/shared/.pi/subagents"), STRANGER, STRANGER);
		const { presets, problems } = await discoverPresets(places(root, "top/shared/repo"));
		expect(presets.map(({ name }) => name)).toEqual(["fine"]);
		expect(problems).toMatchObject([
			{
				path: join(root, "top/shared/.pi/subagents"),
				severity: "error",
				message: expect.stringMatching(/different user/),
			},
		]);
		expect(await findPresetRoot(join(root, "top/shared/repo"))).toBe(join(root, "top"));
	});

	test("counts in a project that is that user's", async () => {
		const root = await tree({ "repo/.pi/subagents/p.md": preset("p"), "repo/sub/x.txt": "" });
		for (const path of ["repo/.pi/subagents", "repo/sub"]) await chown(join(root, path), STRANGER, STRANGER);
		expect((await discoverPresets(places(root, "repo/sub"))).presets.map(({ name }) => name)).toEqual(["p"]);
		await chown(join(root, "repo/sub"), OTHER, OTHER);
		expect((await discoverPresets(places(root, "repo/sub"))).presets).toEqual([]);
	});
});
