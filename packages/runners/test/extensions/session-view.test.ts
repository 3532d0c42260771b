/** What a guard sees of an agent that works elsewhere than the user's session. */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { asSession, type SessionView, takeChanges } from "../../src/extensions/session-view.ts";

const session = { session: "/home/me/app", realSession: "/home/me/app" };
const below: SessionView = { ...session, cwd: "/home/me/app/src" };
const elsewhere: SessionView = { ...session, cwd: "/etc/it's" };
const worktree: SessionView = {
	...session,
	cwd: "/wt/a1/src",
	copy: { root: "/wt/a1", origin: "/home/me/app" },
};
const top: SessionView = { ...worktree, cwd: "/wt/a1" };

test.each([
	["a path below", below, "read", { path: "a.ts" }, { path: "src/a.ts" }],
	["a path above it", below, "read", { path: "../a.ts" }, { path: "a.ts" }],
	["no path", below, "ls", {}, { path: "src" }],
	["a command below", below, "bash", { command: "touch a" }, { command: "cd 'src' && touch a" }],
	["a path elsewhere", elsewhere, "write", { path: "a", content: "x" }, { path: "/etc/it's/a", content: "x" }],
	["an absolute path", elsewhere, "read", { path: "/home/me/app/a.ts" }, { path: "/home/me/app/a.ts" }],
	["a path at home", elsewhere, "read", { path: "~/a.ts" }, { path: "~/a.ts" }],
	["no path elsewhere", elsewhere, "grep", { pattern: "x" }, { pattern: "x", path: "/etc/it's" }],
	["a command elsewhere", elsewhere, "bash", { command: "cat a" }, { command: "cd '/etc/it'\\''s' && cat a" }],
	["a path in a worktree", top, "edit", { path: "a.ts" }, { path: "a.ts" }],
	["an absolute path in a worktree", top, "read", { path: "/wt/a1/a.ts" }, { path: "/home/me/app/a.ts" }],
	["a path out of a worktree", top, "read", { path: "../b2/a.ts" }, { path: "/wt/b2/a.ts" }],
	["a path below in a worktree", worktree, "read", { path: "a.ts" }, { path: "src/a.ts" }],
	["a command in a worktree", top, "bash", { command: "ls /wt/a1/src" }, { command: "ls /home/me/app/src" }],
	["a command below in a worktree", worktree, "bash", { command: "ls" }, { command: "cd 'src' && ls" }],
	["another tool", elsewhere, "web_search", { path: "a" }, { path: "a" }],
])("%s is shown as the session would write it", (_what, view, tool, input, shown) => {
	expect(asSession(tool, input, view)).toEqual(shown);
});

test("a link in a worktree that leads out of it is followed, because the guard cannot", async () => {
	const dir = await createTempDir("view-");
	onTestFinished(() => dir.remove());
	await symlink("/etc", join(dir.path, "innocent"));
	const view = { ...session, cwd: dir.path, copy: { root: dir.path, origin: "/home/me/app" } };
	expect(asSession("read", { path: "innocent/passwd" }, view)).toEqual({ path: "/etc/passwd" });
	expect(asSession("write", { path: "new/file.ts" }, view)).toEqual({ path: "new/file.ts" });
});

test.each([
	["a path", below, "read", { path: "a" }, { path: "b" }, { path: "/home/me/app/b" }],
	["a path in a worktree", top, "read", { path: "a" }, { path: "b" }, { path: "/wt/a1/b" }],
	["a command", below, "bash", { command: "ls" }, { command: "cd 'src' && ls -l" }, { command: "ls -l" }],
	["a command in a worktree", top, "bash", { command: "ls" }, { command: "ls /home/me/app" }, { command: "ls /wt/a1" }],
	["something else", below, "read", { path: "a" }, { path: "src/a", limit: 3 }, { path: "a", limit: 3 }],
])("what a guard changes holds where the agent works: %s", (_what, view, tool, input, after, expected) => {
	const before = asSession(tool, input, view);
	takeChanges(tool, input, { before, after }, view);
	expect(input).toEqual(expected);
});
