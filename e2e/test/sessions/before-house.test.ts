/**
 * A session as the version before the packages were taken apart left it when its pi was killed: finished, delivered,
 * detached and interrupted runs, a job, and a branch from a worktree. `fixtures/before-house.json` holds its files, with
 * `@ROOT@` in place of the directory that they were in.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
	all,
	callTool,
	lastUserSays,
	offersTool,
	type PiRpc,
	say,
	startRpc,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { expect, test } from "vitest";
import fixture from "../../fixtures/before-house.json" with { type: "json" };
import { toldIn } from "../../support/detached.ts";
import { scene, unfenced } from "../../support/scene.ts";

type Kept = { mode: number } & ({ text: string } | { base64: string });

async function unpack(root: string): Promise<string> {
	for (const [path, kept] of Object.entries(fixture.files as Record<string, Kept>)) {
		const file = join(root, path);
		await mkdir(dirname(file), { recursive: true, mode: 0o700 });
		const content = "text" in kept ? kept.text.replaceAll("@ROOT@", root) : Buffer.from(kept.base64, "base64");
		await writeFile(file, content, { mode: kept.mode });
	}
	return join(root, fixture.session);
}

/** What a command answers. */
async function answerTo(pi: PiRpc, command: string): Promise<string> {
	const from = pi.events.length;
	await pi.send({ type: "prompt", message: command });
	const shown = await pi.waitFor((event) => event.type === "extension_ui_request" && event.method === "notify", {
		from,
	});
	return String((shown as { message?: string }).message);
}

test("a session of the version before opens, lists, resumes and delivers", async () => {
	await using it = await scene([
		when(lastUserSays("task-notification"), say("Noted.")),
		when(all(offersTool("Agent"), lastUserSays("Please resume")), ({ lastToolResults }) =>
			lastToolResults.length > 0
				? say(`It says: ${unfenced(lastToolResults[0]?.text)}`)
				: callTool("Agent", {
						prompt: "Which word was it?",
						description: "ask again",
						resume: "speaker",
						run_in_background: false,
					}),
		),
		when(lastUserSays("Which word was it?"), ({ messages }) =>
			say(messages.some(({ text }) => text === "heliotrope") ? "It was heliotrope." : "I do not know."),
		),
		when(lastUserSays("Look at the clock."), say("It is late.")),
	]);
	const session = await unpack(it.env.root);
	await using pi = startRpc({ env: it.env, args: ["--session", session] });

	// The job runs, too, and may be told before one of them.
	const expected = ["9603bc6c completed", "994a9b3e aborted", "b77ee67f completed"];
	await until("the three results are delivered", async () => {
		const told = (await toldIn(session)).map(({ runId, status }) => `${runId} ${status}`);
		return expected.every((each) => told.includes(each)) ? told : undefined;
	});
	const whole = await readFile(session, "utf8");
	expect(whole.split("All of it. ").length - 1).toBeGreaterThanOrEqual(300);

	const list = await answerTo(pi, "/subagent list");
	for (const name of ["speaker", "writer", "endless", "9603bc6c"]) expect(list).toContain(name);
	expect(await answerTo(pi, "/subagent view writer")).toContain("pi-subagents/062fafda");
	expect(await answerTo(pi, "/subagent jobs")).toContain("c2792dc1a2f4");

	const from = pi.events.length;
	await pi.prompt("Please resume.");
	await pi.waitFor((event) => event.type === "message_end" && JSON.stringify(event).includes("It was heliotrope."), {
		from,
	});
});
