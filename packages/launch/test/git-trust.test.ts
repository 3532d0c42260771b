/** When the user is asked about settings of a repository, seen from launches in it. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createGitTrust } from "../src/index.ts";
import { launching } from "./fixture.ts";

describe("settings of the repository that make git run something", () => {
	/** A repository whose files need a filter that only it defines. */
	async function withFilter(trust: "yes" | "no" | "unasked") {
		const asked: string[] = [];
		const answers: boolean[] = [];
		const screen = { isOpen: true };
		const confirm = (title: string, question: string) => {
			if (!screen.isOpen) return undefined;
			asked.push(`${title}\n${question}`);
			return Promise.resolve(answers.shift() ?? false);
		};
		const { check, allows } = createGitTrust({ storedTrust: () => trust }, confirm);
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
		it.screen.isOpen = false;
		await expect(it.resolve(params)).rejects.toThrow("filter.vault.smudge");
		expect(it.asked).toEqual([]);
		it.screen.isOpen = true;
		it.answers.push(true);
		await it.resolve(params); // that nobody was there is no answer
		const declined = await withFilter("no");
		await expect(declined.resolve(params)).rejects.toThrow(); // its presets do not count either
		expect(declined.asked).toEqual([]);
	});

	test("count with the stored yes, without a question", async () => {
		const it = await withFilter("yes");
		expect((await it.resolve(params)).isolation).toMatchObject({ kind: "worktree", base: "head" });
		expect(it.asked).toEqual([]);
	});
});
