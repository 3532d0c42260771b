/** An agent that mends things, in a project that may be a git repository: presets, scripted models, and what is left. */
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
	callTool,
	converse,
	type ReplySource,
	type RequestView,
	type Rule,
	say,
	systemPromptSays,
} from "@pi-subagents-dev/testkit";
import { type Scene, scene, unfenced } from "./scene.ts";

/** `fields` are lines of its frontmatter. */
export const preset = (fields = "", name = "mender") =>
	`---\nname: ${name}\ndescription: mends things\nmodel: fake/fake-1\ntools: read,edit,write,bash\n${fields.trim()}\n---\nYou are the ${name}.\n`;

export const asMender = systemPromptSays("You are the mender.");

export const mender = (...replies: readonly ReplySource[]): Rule => converse(asMender, ...replies);

/** The call with which the parent delegates and waits. */
export const launch = (more: Record<string, unknown> = {}) =>
	callTool("Agent", {
		prompt: "Mend it.",
		description: "mend the notes",
		subagent_type: "mender",
		run_in_background: false,
		...more,
	});

/** The same agent again, by the id in the result that the parent has just read. */
export const launchAgain =
	(more: Record<string, unknown> = {}) =>
	(request: RequestView) =>
		launch({ resume: /\[agent (\w+)/.exec(heardIn(request))?.[1], prompt: "Go on.", ...more });

const heardIn = ({ lastToolResults }: RequestView): string =>
	lastToolResults.map(({ text }) => unfenced(text)).join("\n");

export const tellsParent = (request: RequestView) => say(`Heard: ${heardIn(request)}`);

/** A project with the preset in it. */
export const place = (fields: string, rules: readonly Rule[], more: Parameters<typeof scene>[1] = {}) =>
	scene(rules, { ...more, files: { ".pi/subagents/mender.md": preset(fields), ...more.files } });

/** The same as a repository with one commit, and the user's own git in it. */
export async function repository(fields: string, rules: readonly Rule[], more: Parameters<typeof scene>[1] = {}) {
	const it = await place(fields, rules, more);
	const git = async (...args: string[]) =>
		(
			await promisify(execFile)("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
				cwd: it.env.cwd,
			})
		).stdout.trim();
	await git("init", "--quiet", "--initial-branch=main");
	await git("add", ".");
	await git("commit", "--quiet", "-m", "first");
	return { it, git };
}

export const branchIn = (text: string) => /branch (pi-subagents\/[\w-]+)/.exec(text)?.[1] ?? "none";

export const recordsDir = ({ env }: Scene) => join(env.agentDir, "state", "subagents", "worktrees");

/** The checkouts that are there, other than the user's own. */
export const worktreesOf = async (it: Scene) => {
	const names = await readdir(recordsDir(it)).catch((): string[] => []);
	return names.filter((name) => !name.endsWith(".json"));
};
