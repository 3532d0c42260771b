/** A project with its user's directory, and a host that lends what a session of pi would: one model and pi's own tools. */
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkWorktree } from "@pi-subagents/worktree";
import { onTestFinished } from "vitest";
import type { LaunchParams } from "../src/launch-params.ts";
import { createLauncher } from "../src/launcher.ts";
import type { LaunchHost, SessionContext } from "../src/ports.ts";
import type { StoredTrust } from "../src/settings/config.ts";

/** Settings as files make them, for tests of those who show them. */
export { defaultSettings, readSettings } from "../src/settings/settings.ts";

interface Directories {
	cwd: string;
	agentDir: string;
	trust: StoredTrust;
}

export function hostIn<Context extends SessionContext>({ cwd, agentDir, trust }: Directories): LaunchHost<Context> {
	const tools = ["read", "bash", "edit", "write", "grep", "find", "ls"].map((name) => ({ name, isActive: true }));
	return {
		agentDir,
		warn: () => undefined,
		storedTrust: () => trust,
		requireResources: async () => undefined,
		conversation: () => undefined,
		checkWorktree: (asked) =>
			checkWorktree(asked.cwd, { base: asked.base, allows: () => (trust === "yes" ? "*" : []) }),
		packageManifests: () => [],
		parent: () => ({ model: { provider: "fake", id: "one" } }),
		facts: async () => ({
			models: [{ provider: "fake", id: "one" }],
			tools,
			cwd: { path: cwd, kind: "directory", isAsked: false },
			isProjectTrusted: trust === "yes",
		}),
	};
}

interface Given {
	/** Frontmatter of the preset `clerk`. */
	fields?: string;
	overrides?: object;
	settings?: object;
	/** What the project's own settings say. */
	projects?: object;
	trust?: StoredTrust;
	/** What the provider `fake` offers. Default: `one`. */
	models?: readonly string[];
	/** Takes the place of what `hostIn` lends. */
	lends?: Partial<LaunchHost<SessionContext>>;
}

/** A project with one preset, which is trusted unless said otherwise. */
export async function launching(given: Given) {
	const { fields = "", overrides = {}, settings = {}, projects, trust = "yes", models = ["one"], lends = {} } = given;
	const root = await realpath(await mkdtemp(join(tmpdir(), "launch-")));
	onTestFinished(() => rm(root, { recursive: true, maxRetries: 5 }));
	const [cwd, agentDir] = [join(root, "project"), join(root, "agent")];
	await mkdir(join(cwd, ".pi", "agents"), { recursive: true });
	await mkdir(agentDir);
	await writeFile(join(cwd, ".pi", "agents", "clerk.md"), `---\ndescription: Keeps files.\n${fields}\n---\nBe tidy.\n`);
	await writeFile(
		join(agentDir, "subagents.json"),
		JSON.stringify({ agentOverrides: { clerk: overrides }, ...settings }),
	);
	if (projects) await writeFile(join(cwd, ".pi", "subagents.json"), JSON.stringify(projects));
	const usual = hostIn({ cwd, agentDir, trust });
	const host: LaunchHost<SessionContext> = {
		...usual,
		facts: async (context, path = cwd) => {
			const offered = models.map((id) => ({ provider: "fake", id }));
			const facts = await usual.facts(context, path);
			return { ...facts, models: offered, cwd: { path, kind: "directory", isAsked: true } };
		},
		...lends,
	};
	const launcher = createLauncher(host, () => undefined);
	return {
		cwd,
		agentDir,
		launcher,
		resolve: async (params: Partial<LaunchParams> = {}) =>
			(await launcher.resolve({ preset: "clerk", task: "File it.", ...params }, { cwd })).spec,
		made: async () => (await readdir(join(cwd, ".pi"))).filter((name) => name !== "agents"),
	};
}
