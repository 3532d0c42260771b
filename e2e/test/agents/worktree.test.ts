/** Agents with a checkout of their own, in real pi: their changes are on a branch, and nowhere else. */
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	callTool,
	converse,
	gatePis,
	isFullRun,
	lastUserSays,
	type RequestView,
	runPrint,
	say,
	startRpc,
	systemPromptSays,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import {
	asMender,
	branchIn,
	launch,
	launchAgain,
	mender,
	preset,
	recordsDir,
	repository,
	tellsParent,
} from "../../support/mender.ts";
import { parentSays, type Scene, scene, unfenced } from "../../support/scene.ts";

const delegate = ({ env }: Scene, pi: (typeof PIS)[number]) => runPrint({ env, pi }, "Please delegate.");
const PIS = await gatePis();

describe.each(PIS)("pi $version", (pi) => {
	test("an agent edits on a branch of its own, and the report names it", async () => {
		const { it, git } = await repository("", [
			parentSays(launch({ isolation: "worktree" }), tellsParent),
			mender(
				callTool("read", { path: "notes.txt" }),
				callTool("edit", { path: "notes.txt", edits: [{ oldText: "heliotrope", newText: "mauve" }] }),
				say("Mended."),
			),
		]);
		await using _ = it;
		const { stdout } = await delegate(it, pi);
		expect(stdout).toContain("Mended.");
		const branch = branchIn(stdout);
		expect(stdout).toContain(`(1 file, +1 -1), not in this checkout. Apply them with: git merge ${branch}`);
		expect(await git("show", `${branch}:notes.txt`)).toBe("The launch code is mauve.");
		expect(await git("log", "-1", "--format=%s", branch)).toBe("mend the notes");
		expect(await git("status", "--porcelain")).toBe("");
		expect(await readFile(join(it.env.cwd, "notes.txt"), "utf8")).toBe("The launch code is heliotrope.\n");
		await git("merge", "--quiet", branch);
		expect(await readFile(join(it.env.cwd, "notes.txt"), "utf8")).toBe("The launch code is mauve.\n");
	});

	test("one that writes outside of it is refused, and one whose command does is warned and named", async () => {
		const world = { outside: "" };
		const { it } = await repository("", [
			parentSays(launch({ isolation: "worktree" }), tellsParent),
			mender(
				() => callTool("write", { path: world.outside, content: "x" }),
				callTool("write", { path: "lib/.git/config", content: "[core]\n\tfsmonitor = touch x\n" }),
				() => callTool("bash", { command: `echo x > '${world.outside}'` }),
				({ lastToolResults }) => say(`I was told: ${unfenced(lastToolResults[0]?.text)}`),
			),
		]);
		await using _ = it;
		world.outside = join(it.env.cwd, "outside.txt");
		const { stdout } = await delegate(it, pi);
		const refusal = it.server.requests.flatMap(({ messages }) => messages.filter(({ role }) => role === "tool"));
		expect(refusal[0]?.text).toMatch(/outside your checkout\. Write only below .*worktrees/);
		expect(refusal.map(({ text }) => text).join()).toContain("lib/.git/config is in a git directory");
		expect(stdout).toMatch(/I was told: [\s\S]*While this command ran, another checkout changed: .*outside\.txt/);
		expect(stdout).toMatch(/While one of its commands ran \(echo .*\), another checkout changed: .*\(outside\.txt\)/);
	});

	if (isFullRun)
		test("one that outlives the session says in its result where its changes are", async () => {
			const { it, git } = await repository("isolation: worktree\n", [
				parentSays(callTool("background_agent", { preset: "mender", task: "Mend it." }), tellsParent),
				mender(callTool("write", { path: "new.txt", content: "new\n" }), say("Mended.")),
			]);
			await using _ = it;
			await delegate(it, pi);
			const runs = join(it.env.cwd, ".pi", "subagents", "runs");
			const [runId = ""] = (await readdir(runs)).filter((name) => name !== ".gitignore");
			const result = join(runs, runId, "result.json");
			await expect
				.poll(() =>
					stat(result)
						.then(() => true)
						.catch(() => false),
				)
				.toBe(true);
			const { outcome } = JSON.parse(await readFile(result, "utf8"));
			expect(outcome).toMatchObject({ status: "completed", worktree: { branch: `pi-subagents/${runId}`, files: 1 } });
			expect(await git("show", `pi-subagents/${runId}:new.txt`)).toBe("new");
			expect(await git("status", "--porcelain")).toBe("");
		});

	test("what it launches works in the same checkout, and is kept in it", async () => {
		const world = { outside: "" };
		const { it, git } = await repository(
			"subagents: '*'\n",
			[
				parentSays(launch({ isolation: "worktree" }), tellsParent),
				mender(callTool("Agent", { prompt: "Help.", description: "help", subagent_type: "helper" }), tellsParent),
				converse(
					systemPromptSays("You are the helper."),
					callTool("write", { path: "helped.txt", content: "helped\n" }),
					() => callTool("write", { path: world.outside, content: "x" }),
					({ lastToolResults }) => say(`Refused: ${lastToolResults[0]?.text}`),
				),
			],
			{ files: { ".pi/subagents/helper.md": preset("", "helper") } },
		);
		await using _ = it;
		world.outside = join(it.env.cwd, "outside.txt");
		const { stdout } = await delegate(it, pi);
		expect(stdout).toMatch(/Refused: .*outside your checkout/);
		expect(await git("show", `${branchIn(stdout)}:helped.txt`)).toBe("helped");
		expect(await git("status", "--porcelain")).toBe("");
	});

	test("one that is resumed goes on with its branch, without being asked to", async () => {
		const { it, git } = await repository("", [
			parentSays(launch({ isolation: "worktree" }), launchAgain(), tellsParent),
			when(all(asMender, lastUserSays("Go on.")), ({ lastToolResults }: RequestView) =>
				lastToolResults.length === 0 ? callTool("bash", { command: "cat first.txt > second.txt" }) : say("Went on."),
			),
			mender(callTool("write", { path: "first.txt", content: "first\n" }), say("Begun.")),
		]);
		await using _ = it;
		const { stdout } = await delegate(it, pi);
		expect(stdout).toContain("Went on.");
		const branch = branchIn(stdout);
		expect(await git("show", `${branch}:second.txt`)).toBe("first");
		expect(await git("rev-list", "--count", `main..${branch}`)).toBe("2");
		expect(await git("status", "--porcelain")).toBe("");
	});

	if (isFullRun)
		test("where there is no repository, the caller is told before anything is launched", async () => {
			await using it = await scene(
				[parentSays(launch({ isolation: "worktree" }), tellsParent), mender(say("Never."))],
				{
					files: { ".pi/subagents/mender.md": preset() },
				},
			);
			const { stdout } = await delegate(it, pi);
			expect(stdout).toMatch(/cannot have its own worktree: .* is not in a git repository/);
			expect(it.server.requests.some(({ systemPrompt }) => systemPrompt.includes("You are the mender."))).toBe(false);
		});

	/** A pi whose agent is in the middle of a command that changes files and does not end. */
	async function inTheMiddle() {
		const { it, git } = await repository("", [
			parentSays(launch({ isolation: "worktree", run_in_background: true }), say("Launched.")),
			mender(
				callTool("write", { path: "first.txt", content: "first\n" }),
				callTool("bash", { command: "echo second > second.txt; exec sleep 30" }),
			),
		]);
		const rpc = startRpc({ env: it.env, pi });
		await rpc.prompt("Please delegate.");
		const dir = recordsDir(it);
		const id = await until("the command is at work", async () => {
			const names = (await namesIn(dir)).filter((name) => !name.endsWith(".json"));
			const [name] = names;
			return name !== undefined && (await namesIn(join(dir, name))).includes("second.txt") ? name : undefined;
		});
		return { it, git, rpc, dir, id };
	}
	const namesIn = (dir: string) => readdir(dir).catch((): string[] => []);

	if (isFullRun)
		test("a pi that ends in the middle of a command has what the agent changed until then on its branch", async () => {
			const { it, git, rpc, dir, id } = await inTheMiddle();
			await using _ = it;
			await rpc.close();
			expect(await git("ls-tree", "--name-only", `pi-subagents/${id}`)).toMatch(/first\.txt\n[\s\S]*second\.txt/);
			expect(await namesIn(dir)).toEqual([`${id}.json`]);
		});

	test("a pi that is killed in the middle of a command leaves all of it, and the next one knows where", async () => {
		const { it, rpc, dir, id } = await inTheMiddle();
		await using _ = it;
		process.kill(-(rpc.pid ?? 0), "SIGKILL");
		await rpc.close();
		const { stdout, stderr } = await runPrint({ env: it.env, pi }, "/subagent doctor");
		expect(`${stdout}${stderr}`.replace(/\s+/g, " ")).toContain(
			`was left by agent ${id}, with uncommitted or unmerged changes`,
		);
		expect(await namesIn(join(dir, id))).toEqual(expect.arrayContaining(["first.txt", "second.txt"]));
	});
});

test("a filter of the user's own configuration, such as git-lfs, works for an agent in an untrusted project", async () => {
	const { it, git } = await repository("", [
		parentSays(launch({ isolation: "worktree" }), tellsParent),
		mender(
			callTool("read", { path: "a.enc" }),
			callTool("write", { path: "b.enc", content: "hal\n" }),
			({ messages }) => say(`Read: ${messages.findLast(({ text }) => text.includes("ibm"))?.text}`),
		),
	]);
	await using _ = it;
	const filter = '[filter "shift"]\n\tclean = tr a-y b-z\n\tsmudge = tr b-z a-y\n\trequired = true\n';
	await writeFile(join(it.env.home, ".gitconfig"), filter);
	await writeFile(join(it.env.cwd, ".gitattributes"), "*.enc filter=shift\n");
	await writeFile(join(it.env.cwd, "a.enc"), "jcn\n"); // without the filter, as it is stored
	await git("add", ".");
	await git("commit", "--quiet", "-m", "secrets");
	const { stdout } = await runPrint({ env: it.env }, "Please delegate.");
	expect(stdout).toContain("Read: ibm");
	expect(await git("cat-file", "blob", `${branchIn(stdout)}:b.enc`)).toBe("ibm");
});
