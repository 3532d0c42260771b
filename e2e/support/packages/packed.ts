/** The packages as strangers get them: packed, and installed into a directory of theirs with nothing of this workspace. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
export const packageNames = [
	"cli",
	"core",
	"delivery",
	"extension",
	"launch",
	"presets",
	"progress",
	"remote",
	"report",
	"rpc",
	"runners",
	"runs",
	"schedule",
	"tools",
	"widget",
	"workflow",
	"worktree",
] as const;

export type PackageName = (typeof packageNames)[number];
export type Tarballs = Readonly<Record<PackageName, string>>;
export type PackageManager = "npm" | "pnpm";

export interface RunOptions {
	cwd: string;
	input?: string;
	env?: Readonly<Record<string, string | undefined>>;
}

/** What the command prints. It fails with everything that it printed. */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
	const { cwd, input = "", env = process.env } = options;
	const running = promisify(execFile)(command, [...args], { cwd, env, maxBuffer: 32 * 1024 * 1024 });
	running.child.stdin?.on("error", () => undefined); // it ended without reading; its exit counts
	running.child.stdin?.end(input);
	try {
		return (await running).stdout;
	} catch (error) {
		const { stdout, stderr } = error as { stdout?: string; stderr?: string };
		throw new Error(`${command} ${args.join(" ")} failed\n${stdout}\n${stderr}`, { cause: error });
	}
}

export async function packAll(into: string): Promise<Tarballs> {
	const packing = packageNames.map(async (name) => {
		const before = join(into, name);
		await mkdir(before, { recursive: true });
		await run("pnpm", ["pack", "--pack-destination", before], { cwd: join(root, "packages", name) });
	});
	await Promise.all(packing);
	return tarballsIn(into);
}

export async function tarballsIn(dir: string): Promise<Tarballs> {
	const found = packageNames.map(async (name) => {
		const [file = ""] = await readdir(join(dir, name));
		return [name, join(dir, name, file)] as const;
	});
	return Object.fromEntries(await Promise.all(found)) as Tarballs;
}

/** A package of pi's, from where the workspace has it: a stranger would have installed it too, only bigger. */
export async function lend(dir: string, library: string, from: PackageName): Promise<void> {
	const there = join(dir, "node_modules", library);
	if (existsSync(there)) return; // a package that requires it has brought it
	await mkdir(dirname(there), { recursive: true });
	await symlink(join(root, "packages", from, "node_modules", library), there);
}

/** Makes an empty project that depends on these packages, and installs it as its owner would. */
export async function installed(
	dir: string,
	packages: readonly PackageName[],
	{ tarballs, manager = "npm" }: { tarballs: Tarballs; manager?: PackageManager },
): Promise<string> {
	const dependencies = Object.fromEntries(packages.map((name) => [`@pi-subagents/${name}`, "*"]));
	await mkdir(dir, { recursive: true });
	await writeFile(join(dir, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
	await install(dir, { tarballs, manager });
	return dir;
}

/** What of ours the project asks for comes from the tarballs, and so does what that asks for in turn. */
export async function install(
	dir: string,
	{ tarballs, manager = "npm" }: { tarballs: Tarballs; manager?: PackageManager },
): Promise<void> {
	const path = join(dir, "package.json");
	const manifest = JSON.parse(await readFile(path, "utf8"));
	const ours = Object.entries(tarballs).map(([name, file]) => [`@pi-subagents/${name}`, `file:${file}`] as const);
	// pi itself is huge and lent by the workspace.
	const others = Object.entries(manifest.dependencies).filter(
		([name]) => !/^@(pi-subagents|earendil-works)\//.test(name),
	);
	const direct = ours.filter(([name]) => name in manifest.dependencies);
	const indirect = ours.filter(([name]) => !(name in manifest.dependencies));
	manifest.dependencies = Object.fromEntries([...others, ...direct]);
	if (manager === "npm") manifest.overrides = Object.fromEntries(indirect);
	await writeFile(path, JSON.stringify(manifest, null, "\t"));
	if (manager === "npm") {
		const quiet = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
		await run("npm", ["install", ...quiet], { cwd: dir });
	} else {
		const overrides = ours.map(([name, file]) => `  "${name}": "${file}"\n`).join("");
		await writeFile(join(dir, "pnpm-workspace.yaml"), `overrides:\n${overrides}`);
		await run("pnpm", ["install", "--prefer-offline", "--no-frozen-lockfile"], { cwd: dir });
	}
}

/** Whether TypeScript, outside our workspace, understands these files. */
export async function typecheck(dir: string, files: readonly string[], flags: readonly string[] = []): Promise<void> {
	const strict = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--allowImportingTsExtensions"];
	const types = flags.includes("--types") ? [] : ["--types", ""];
	await run(join(root, "node_modules", ".bin", "tsc"), [...strict, ...types, ...flags, ...files], { cwd: dir });
}
