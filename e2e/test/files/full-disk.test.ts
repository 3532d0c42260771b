/** The disk of the project is full when a detached agent ends. Bubblewrap gives the files of runs a small disk. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
	callTool,
	gatePis,
	lastUserSays,
	offersTool,
	type Rule,
	requireTool,
	runPrint,
	say,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { trust } from "../../support/hostile/hostile-repository.ts";
import { mender, place } from "../../support/mender.ts";
import { parentSays, unfenced } from "../../support/scene.ts";

const DISK_BYTES = 4_000_000;
const FILL = "cat /dev/zero > .pi/subagents/runs/fill";

/** Runs pi, and once its agent has ended again with the other prompt: both see the same small disk. */
const TWICE = `
results=$1; shift
"$@"
until ls "$results"/*/* >/dev/null 2>&1; do sleep 0.1; done
last=$#; at=0
for word; do
	[ $at -eq 0 ] && set --
	at=$((at + 1))
	case $at in
		$last) set -- "$@" "Anything new?";;
		$((last - 1))) set -- "$@" --continue "$word";;
		*) set -- "$@" "$word";;
	esac
done
exec "$@"`;

async function told(pi: Awaited<ReturnType<typeof gatePis>>[number], fields: string, agent: Rule): Promise<string> {
	await using it = await place(`runner: process\n${fields}`, [
		parentSays(callTool("background_agent", { preset: "mender", task: "Mend it." }), say("Started.")),
		agent,
		when(lastUserSays("Anything new?"), say("I see.")),
	]);
	await trust(it.env);
	const { cwd, agentDir } = it.env;
	const runs = join(cwd, ".pi", "subagents", "runs");
	await mkdir(runs, { recursive: true });
	const disk = ["--dev-bind", "/", "/", "--size", String(DISK_BYTES), "--tmpfs", runs];
	const results = join(agentDir, "state", "subagents", "results");
	const command = ["bwrap", ...disk, "sh", "-c", TWICE, "sh", results, ...pi.command] as const;
	await runPrint({ env: it.env, pi: { ...pi, command } }, "Please delegate.");
	const read = it.server.requests.filter(offersTool("Agent")).flatMap(({ messages }) => messages);
	return unfenced(read.map(({ text }) => text).join("\n"));
}

describe.skipIf(!requireTool("bwrap"))("on a full disk", async () => {
	describe.each(await gatePis())("pi $version", (pi) => {
		test("the answer of an agent that ended while pi was closed is kept in pi's own directory, and told", async () => {
			const text = await told(pi, `verify: '${FILL}; true'`, mender(say("Mended: it was the door.")));
			expect(text).toMatch(/Completed in \S+, verified: [\s\S]*Mended: it was the door\./);
			expect(text).not.toContain("result.json");
		});

		test("an agent that cannot go on says why, and where its conversation is", async () => {
			const long = `${FILL}; seq 3000`;
			const text = await told(pi, "", mender(callTool("bash", { command: long }), say("Mended.")));
			expect(text).toMatch(/Failed after \S+: ENOSPC[^\n]*no room on the disk of \S+, so its conversation/);
			expect(text).toMatch(/is in \S+child-session\.jsonl\. Make room, then resume the agent\./);
		});
	});
});
