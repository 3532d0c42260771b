import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { callTool, converse, createTempDir, say } from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { gitRefusal } from "../../../core/src/file-guards/git-guard.ts";
import { sessionRunner } from "../../src/session/index.ts";
import { sessionWorld } from "../fixtures/session.ts";

const refusal = (path: unknown, { tool = "write", cwd = "/nowhere/app" } = {}) =>
	gitRefusal({ tool, input: { path, content: "x" }, cwd });

describe("a path that some file system takes for one in a git directory is refused", () => {
	test.each([
		".git",
		".git/config",
		"lib/.git",
		"lib/.git/hooks/post-checkout",
		"/elsewhere/.git/config",
		"~/app/.git/config",
		"@.git/config",
		"file:///elsewhere/.git/config",
		"src/../.git/config",
		".GIT/config",
		".giT./config",
		".git /config",
		".git . ./config",
		".git\u00a0/config",
		".git::$INDEX_ALLOCATION/config",
		"git~1/config",
		"GIT~1/config",
		"lib\\.git\\config",
		".g\u200cit/config",
		"\ufeff.git/config",
		".git\u202e/config",
	])("%j", (path) => {
		expect(refusal(path)).toMatch(/is in a git directory, where agents must not write/);
		expect(refusal(path, { tool: "edit" })).toMatch(/is in a git directory/);
	});

	test("through links, also to what is not there yet, and from within one", async () => {
		const temp = await createTempDir();
		onTestFinished(temp.remove);
		const cwd = temp.path;
		await mkdir(join(cwd, ".git", "hooks"), { recursive: true });
		await symlink(".git/hooks", join(cwd, "hooks"));
		await symlink(join(cwd, "lib", ".git"), join(cwd, "later"));
		for (const path of ["hooks/post-checkout", "later", "later/config"]) expect(refusal(path, { cwd })).toMatch(/git/);
		expect(refusal("post-checkout", { cwd: join(cwd, ".git", "hooks") })).toMatch(/git directory/);
	});
});

test.each([
	".gitignore",
	".github/workflows/ci.yml",
	"src/git.ts",
	"app.git/x",
	"x.git",
	".gitattributes",
	"digit~1",
	42,
	undefined,
])("%j is not one", (path) => {
	expect(refusal(path)).toBeUndefined();
});

test("reading is nobody's business", () => {
	expect(refusal(".git/config", { tool: "read" })).toBeUndefined();
});

test("an agent inside pi cannot write there, even without a worktree", async () => {
	await using world = await sessionWorld(
		converse(
			() => true,
			callTool("write", { path: "lib/.git/config", content: "x" }),
			({ lastToolResults }) => say(`Heard: ${lastToolResults[0]?.text}`),
		),
	);
	const spec = { ...world.spec, tools: ["write"] };
	expect(await sessionRunner(world.host).start(spec, () => undefined).settled).toEqual({
		status: "completed",
		text: expect.stringContaining("lib/.git/config is in a git directory"),
	});
});
