/** The tarballs: what is in them, how big they are, and what the tools for package authors say about them. */
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { createTempDir, isFullRun, type TempDir } from "@pi-subagents-dev/testkit";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import budgets from "../../size-budgets.json" with { type: "json" };
import { packOnce } from "../../support/packages/pack-once.ts";
import { installed, type PackageName, packageNames, root, run, type Tarballs } from "../../support/packages/packed.ts";

let temp: TempDir;
let tarballs: Tarballs;

beforeAll(async () => {
	temp = await createTempDir("pi-packages-");
	tarballs = await packOnce();
});
afterAll(() => temp.remove());

const bin = (name: string) => join(root, "e2e", "node_modules", ".bin", name);

/** Imports at the beginning of a statement, and those at run time, of code that may be minified. */
const IMPORTS = /(?:(?:^|[;}])(?:import|export)\b[^"'();]*|\bimport\()["']([^"']+)["']/gm;

async function unpacked(name: PackageName): Promise<string> {
	const dir = join(temp.path, `unpacked-${name}`);
	await mkdir(dir, { recursive: true });
	await run("tar", ["-xzf", tarballs[name], "-C", dir, "--strip-components=1"], { cwd: dir });
	return dir;
}

describe.each(packageNames)("the %s tarball", (name) => {
	test(isFullRun ? "passes publint and attw" : "passes publint", async () => {
		const cwd = temp.path;
		await run(bin("publint"), ["run", tarballs[name], "--strict"], { cwd });
		if (isFullRun) await run(bin("attw"), [tarballs[name], "--profile", "esm-only"], { cwd });
	});

	test("imports only what it declares, so that it works alone", async () => {
		const dir = await unpacked(name);
		const { dependencies, peerDependencies } = JSON.parse(await readFile(join(dir, "package.json"), "utf8"));
		const entries = await readdir(join(dir, "dist"), { recursive: true });
		const scripts = entries.filter((file) => /\.[cm]?js$/.test(file));
		const texts = await Promise.all(scripts.map((file) => readFile(join(dir, "dist", file), "utf8")));
		const imported = texts.flatMap((text) => [...text.matchAll(IMPORTS)].map(([, specifier = ""]) => specifier));
		const undeclared = imported
			.filter((specifier) => !specifier.startsWith(".") && !isBuiltin(specifier))
			.map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)
			.filter((library) => !(library in { ...dependencies, ...peerDependencies, [`@pi-subagents/${name}`]: "" }));
		expect(undeclared).toEqual([]);
	});

	test("holds what it should, and nobody's paths", async () => {
		const dir = await unpacked(name);
		const manifest = JSON.parse(await readFile(join(dir, "package.json"), "utf8"));
		expect(manifest).toMatchObject({
			license: "MIT",
			type: "module",
			sideEffects: false,
			engines: { node: ">=22.19.0" },
			publishConfig: { access: "public" },
		});
		expect(JSON.stringify(manifest)).not.toMatch(/@pi-subagents\/source|workspace:|catalog:/);
		const entries = await readdir(dir, { recursive: true, withFileTypes: true });
		const files = entries.filter((entry) => entry.isFile());
		expect(files.map((file) => file.name)).toEqual(
			expect.arrayContaining(["README.md", "LICENSE", "index.js", "index.d.ts"]),
		);
		const templates = files.filter((file) => file.parentPath === join(dir, "prompts"));
		expect(templates).toHaveLength(name === "extension" ? 3 : 0);
		for (const file of files) expect(await readFile(join(file.parentPath, file.name), "utf8")).not.toContain(root);
	});

	test("keeps to its budget in e2e/size-budgets.json", async () => {
		const { size } = await stat(tarballs[name]);
		expect(size).toBeLessThanOrEqual(budgets.packed[name]);
	});
});

test("what pi loads at its start keeps to its budget in e2e/size-budgets.json", async () => {
	const dir = await unpacked("extension");
	for (const [file, budget] of Object.entries(budgets.loadedAtStart)) {
		const { size } = await stat(join(dir, file));
		expect(size, file).toBeLessThanOrEqual(budget);
	}
});

test("who uses one function of a package bundles little more", async () => {
	const dir = await installed(join(temp.path, "bundled"), ["progress"], { tarballs });
	const contents = `import { formatDuration } from "@pi-subagents/progress"; console.log(formatDuration(72_000));`;
	const { outputFiles } = await build({
		stdin: { contents, resolveDir: dir },
		bundle: true,
		minify: true,
		format: "esm",
		write: false,
	});
	const code = outputFiles[0]?.text ?? "";
	expect(code.length).toBeLessThanOrEqual(budgets.bundled["formatDuration of progress"]);
	expect(await run(process.execPath, ["--input-type=module", "--eval", code], { cwd: dir })).toBe("1m 12s\n");
});
