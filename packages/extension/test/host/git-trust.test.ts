/** When the user is asked about settings of a repository, seen from launches in it. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { createDialogs } from "@pi-subagents/commands/questions";
import { describe, expect, test } from "vitest";
import { launching } from "../../../launch/test/fixture.ts";
import { createGitTrust } from "../../src/host/git-trust.ts";

describe("settings of the repository that make git run something", () => {
	/** A repository whose files need a filter that only it defines. */
	async function withFilter(trust: "yes" | "no" | "unasked") {
		const asked: string[] = [];
		const answers: boolean[] = [];
		const select = async (text: string, [first, second]: string[]) => {
			asked.push(text);
			return answers.shift() ? second : first;
		};
		const screen = { hasUI: true, mode: "tui", ui: { select } };
		const host = { storedTrust: () => trust, session: () => screen as unknown as ExtensionContext };
		const { check, allows } = createGitTrust(host, createDialogs());
		const it = await launching({ trust, lends: { checkWorktree: check } });
		const git = (...args: string[]) =>
			promisify(execFile)("git", ["-c", "user.name=Ada", "-c", "user.email=a@example.org", ...args], { cwd: it.cwd });
		await git("init", "--quiet");
		await writeFile(join(it.cwd, ".gitattributes"), "*.md filter=vault\n");
		await git("add", ".");
		await git("commit", "--quiet", "-m", "first");
		await git("config", "filter.vault.smudge", "cat \u001b[31m");
		return { ...it, git, asked, answers, screen, allows };
	}
	const params = { isolation: "worktree" as const };

	test("are asked about once, and a no is remembered as well", async () => {
		const it = await withFilter("unasked");
		it.answers.push(false);
		for (let launch = 0; launch < 2; launch++) await expect(it.resolve(params)).rejects.toThrow("filter.vault.smudge");
		expect(it.asked).toEqual([expect.stringContaining("filter.vault.smudge = cat")]);
		expect(it.asked.join()).not.toContain("\u001b");
		await it.git("config", "filter.vault.smudge", "cat");
		it.answers.push(true);
		await Promise.all([it.resolve(params), it.resolve(params)]);
		expect(it.asked).toHaveLength(2);
		expect(it.allows(it.cwd)).toHaveLength(1);
	});

	test("are not asked about by a trial, in a project that the user has declined, and where there is no screen", async () => {
		const it = await withFilter("unasked");
		await expect(it.resolve({ ...params, isTrial: true })).rejects.toThrow("filter.vault.smudge");
		it.screen.hasUI = false;
		await expect(it.resolve(params)).rejects.toThrow("filter.vault.smudge");
		expect(it.asked).toEqual([]);
		const declined = await withFilter("no");
		await expect(declined.resolve(params)).rejects.toThrow(); // its presets do not count either
		expect(declined.asked).toEqual([]);
	});

	test("start with No selected, so that Enter pressed too early allows nothing", async () => {
		const it = await withFilter("unasked");
		await expect(it.resolve(params)).rejects.toThrow("filter.vault.smudge"); // takes the first choice
		expect([it.asked.length, it.allows(it.cwd)]).toEqual([1, []]);
	});

	test("count with the stored yes, without a question", async () => {
		const it = await withFilter("yes");
		expect((await it.resolve(params)).isolation).toMatchObject({ kind: "worktree", base: "head" });
		expect(it.asked).toEqual([]);
	});
});
