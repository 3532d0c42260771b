/** The disk of the project is full when a detached agent ends. Bubblewrap gives the files of runs a small disk. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	callTool,
	createGate,
	gatePis,
	lastUserSays,
	offersTool,
	type Rule,
	requireTool,
	runPrint,
	say,
	startRpc,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { jsonOf } from "../../support/detached.ts";
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

/** A small disk that lives as long as a process which does nothing; others reach it through that. */
async function smallDisk(bytes: number): Promise<{ path: string; close: () => void }> {
	const words = ["--die-with-parent", "--dev-bind", "/", "/", "--size", String(bytes), "--tmpfs", "/mnt"];
	const holder = spawn("bwrap", [...words, "sh", "-c", "echo $$; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
	const [pid] = await once(holder.stdout.setEncoding("utf8"), "data");
	return { path: `/proc/${String(pid).trim()}/root/mnt`, close: () => void holder.stdin.end() };
}

describe.skipIf(!requireTool("bwrap"))("on a full disk of sessions", async () => {
	describe.each(await gatePis())("pi $version", (pi) => {
		test("a result that pi could not write is told when the session is opened again", async () => {
			const gate = createGate();
			const inBackground = {
				prompt: "Mend it.",
				description: "mend",
				subagent_type: "mender",
				run_in_background: true,
			};
			await using it = await place("", [
				parentSays(callTool("Agent", inBackground), say("Started.")),
				mender({ ...say(`Mended: it was the door. ${"It creaked. ".repeat(500)}`), gate }), // more than the last block has room for
				when(offersTool("Agent"), say("Noted.")),
			]);
			await trust(it.env);
			const disk = await smallDisk(2_000_000);
			onTestFinished(disk.close);
			await symlink(disk.path, join(it.env.agentDir, "sessions"));
			const fill = join(disk.path, "fill");
			await using first = startRpc({ env: it.env, pi });
			await first.prompt("Please delegate.");
			await writeFile(fill, Buffer.alloc(3_000_000)).catch(() => undefined); // as much as it takes
			gate.open();
			const runs = join(it.env.cwd, ".pi", "subagents", "runs");
			await until("it has answered", async () => {
				const ids = (await readdir(runs)).filter((name) => !name.startsWith("."));
				return jsonOf(join(runs, ids[0] ?? "none", "result.json"));
			});
			await rm(fill);
			await until("it is idle, and takes a prompt", () => first.prompt("Hello.").catch(() => undefined));
			process.kill(first.pid ?? 0, "SIGKILL");
			await first.close();
			const before = it.server.requests.length;
			await runPrint({ env: it.env, pi, args: ["--continue"] }, "Anything new?");
			const read = it.server.requests.slice(before).flatMap(({ messages }) => messages.map(({ text }) => text));
			expect(read.join("\n")).toContain("Mended: it was the door.");
		});
	});
});
