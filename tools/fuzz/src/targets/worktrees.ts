/** Files of a project that a launch reads: which files a worktree gets, and which MCP servers pi would connect. */
import { strict as assert } from "node:assert";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { AgentError, systemClock } from "@pi-subagents/core";
import { once } from "@pi-subagents/core/internal/base";
import { gitWith } from "@pi-subagents/worktree";
import fc from "fast-check";
import { configuredServers } from "../../../../packages/runners/src/mcp/configured.ts";
import { mcpOf } from "../../../../packages/runners/src/mcp/pi-mcp.ts";
import { prepareCheckout } from "../../../../packages/worktree/src/prepare.ts";
import { secondPi } from "../../../testkit/src/pi/second-pi.ts";
import { changedFile } from "../mutate.ts";
import { presentable, resolved, type Target, target, unpolluted } from "../target.ts";

const ROOT = join(tmpdir(), `fuzz-worktrees-${process.pid}`);

export const removeWorktrees = () => rm(ROOT, { recursive: true, force: true, maxRetries: 3 });

const INCLUDE_FILES = [
	"# secrets\n.env*\n!pkg/.env.local\n/ignored/**\n",
	".env\r\n*.key\r\n",
	"ignored/\npkg/*\n[.]env\n",
];
const IGNORED = [".env", "pkg/.env.local", "ignored/a b.txt", "linked/secret.key", "~x.key"];
const OUTSIDE = "out of reach";

/** A repository with ignored files, once for all inputs. */
const repository = once(async () => {
	const main = join(ROOT, "main");
	const outside = join(ROOT, "outside");
	await mkdir(outside, { recursive: true });
	await writeFile(join(outside, ".env"), OUTSIDE);
	for (const path of [...IGNORED, "src/index.ts", "notes.txt"]) {
		await mkdir(dirname(join(main, path)), { recursive: true });
		await writeFile(join(main, path), path);
	}
	await writeFile(join(main, ".gitignore"), ".env*\nignored/\n*.key\n");
	const git = gitWith();
	await git(["init", "--quiet"], { cwd: main });
	await git(["add", "src", ".gitignore"], { cwd: main });
	return { main, outside, git };
});

/** What lies in a directory, without following links. */
async function filesIn(dir: string): Promise<string[]> {
	const entries = await readdir(dir, { recursive: true, withFileTypes: true });
	return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => relative(dir, join(parentPath, name)));
}

const SERVERS = [
	{ mcpServers: { files: { command: "npx", args: ["-y", "files"], env: { A: "b" } } } },
	{
		mcpServers: { web: { type: "http", url: "http://127.0.0.1:1/mcp", headers: { A: "b" } } },
		autoEnableCodemode: true,
	},
	{ mcpServers: { a: { command: "x", exposure: "direct", toolExposure: { b: "hidden" }, disabled: false } } },
].map((servers) => JSON.stringify(servers));

/** pi's own reader of these files, in the newest pi that there is. */
const mcpSupport = once(async () => {
	const bundle = (await secondPi())?.command[1];
	return bundle === undefined ? undefined : mcpOf(await import(pathToFileURL(join(dirname(bundle), "index.js")).href));
});

export const worktreeTargets: Target[] = [
	target(
		"a .worktreeinclude brings only files that git ignores, and none from outside",
		changedFile(INCLUDE_FILES),
		async (bytes) => {
			const { main, outside, git } = await repository();
			const root = await mkdtemp(join(ROOT, "checkout-")); // when the time is up, an input may still be at work
			await symlink(outside, join(root, "linked")); // on this branch it is a link
			await writeFile(join(main, ".worktreeinclude"), bytes);
			const record = { main, root, cwd: root, gitDir: join(main, ".git") } as Parameters<typeof prepareCheckout>[0];
			const notes = await resolved(
				() => prepareCheckout(record, { readsIncludeFile: true }, { git, clock: systemClock }),
				AgentError,
			);
			for (const note of notes ?? []) presentable(note);
			for (const path of await filesIn(root)) {
				assert.ok(IGNORED.includes(path), `${path} was copied`);
				assert.equal(await readFile(join(root, path), "utf8"), path);
			}
			assert.deepEqual(await filesIn(outside), [".env"]);
			await rm(root, { recursive: true });
		},
	),
	target(
		"an mcp.json gives servers or none, and an untrusted project's never count",
		fc.tuple(changedFile(SERVERS), fc.boolean()),
		async ([bytes, isTrusted]) => {
			const create = await mcpSupport();
			if (!create) return;
			const cwd = join(ROOT, "project");
			await mkdir(join(cwd, ".pi"), { recursive: true });
			await mkdir(join(ROOT, "agent"), { recursive: true });
			process.env.PI_CODING_AGENT_DIR = join(ROOT, "agent");
			await writeFile(join(cwd, ".pi", "mcp.json"), bytes);
			const servers = await configuredServers(create, { cwd, isTrusted });
			assert.ok(isTrusted || servers.length === 0, "a server of an untrusted project");
			for (const { name, config } of servers) assert.ok(typeof name === "string" && typeof config === "object");
			unpolluted();
		},
	),
];
