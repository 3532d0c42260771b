/** What stands ready for the extras of storms: presets, settings, scripts, servers; and what is done to them. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PiEnv } from "@pi-subagents-dev/testkit";
import type { Stage } from "./acts.ts";
import type { Extra, ExtraDeed } from "./extras.ts";
import type { Act } from "./plan.ts";
import { processesNaming } from "./processes.ts";

const SERVER = fileURLToPath(new URL("../support/mcp/server.mjs", import.meta.url));

/** Fails until it has run often enough; each run and its end are in a file, so that a claim can be compared with it. */
const CHECK = `key=$1
wanted=$2
log="$HOME/checks.log"
echo "$key began" >> "$log"
sleep 0.0$(( $(echo "$key" | tr -dc 0-9) % 9 ))
times=$(grep -c "^$key began" "$log")
if [ "$wanted" -gt 0 ] && [ "$times" -ge "$wanted" ]; then
	echo "$key passed" >> "$log"
	exit 0
fi
echo "$key failed" >> "$log"
echo "It is not good enough."
exit 1
`;

/** Marks what runs inside. */
const BOX = `if [ -e "$HOME/box-is-broken" ]; then
	echo "The box is broken." >&2
	exit 3
fi
export STORM_BOXED=yes
exec "$@"
`;

/** The user's own files: a project that nobody trusts could choose neither a machine nor a launcher. */
export function extraFiles(
	preset: (name: string, more: string) => string,
	extras: readonly Extra[],
): { agentFiles: Record<string, string>; settings: object } {
	if (extras.length === 0) return { agentFiles: {}, settings: {} };
	const mcp = { mcpServers: { storm: { command: process.execPath, args: [SERVER, "storm"], timeout: 20 } } };
	return {
		agentFiles: {
			"check.sh": CHECK,
			"box.sh": BOX,
			"agents/storm-boxed.md": preset("storm-boxed", "launcher: box"),
			"agents/storm-remote.md": preset("storm-remote", "machine: local"),
			...(extras.includes("mcp")
				? {
						"mcp.json": JSON.stringify(mcp),
						"agents/storm-mcp.md": preset("storm-mcp", 'subagents: "*"\nmcpServers: storm'),
					}
				: {}),
		},
		settings: {
			toolsets: ["agents", "presets", "roles", "workflows"],
			verifyCalls: true,
			workflows: { autoResume: true },
			launchers: { box: { command: ["sh", "{agentDir}/box.sh"] } },
		},
	};
}

/** Whether there was anything to do it to. */
export async function carryOutExtra(
	{ chance }: Act,
	does: ExtraDeed,
	{ env, pi, account }: Pick<Stage, "env" | "pi" | "account">,
): Promise<boolean> {
	switch (does) {
		case "break the launcher":
			await writeFile(brokenBox(env), "");
			return true;
		case "mend the launcher":
			await mendLauncher(env);
			return true;
		case "kill a check":
			return killOne(env, /check\.sh/, chance);
		case "kill an MCP server":
			return killOne(env, /mcp\/server\.mjs/, chance);
		case "kill a worker":
			return killOne(env, WORKER, chance);
	}
	const { launched, settled } = await account();
	const workflows = [...launched.values()].filter(({ runner }) => runner === "workflow");
	const isLive = does !== "resume a workflow";
	const fitting = workflows.filter(({ runId }) => settled.has(runId) !== isLive);
	const one = fitting[Math.floor(chance * fitting.length)];
	if (!one) return false;
	const calls = [...new Set(await labelsIn(one.artifacts, one.agentId))];
	const call = calls[Math.floor(((chance * 7) % 1) * calls.length)] ?? "";
	await pi.command(`/workflow ${WORDS[does]} ${one.agentId}${/call/.test(does) ? ` ${call}` : ""}`);
	return true;
}

/** The program that serves the other end of a pipe. */
export const WORKER = /worker\.js[ \0]--stdio/;

const WORDS = {
	"stop a workflow": "stop",
	"resume a workflow": "resume",
	"pause a workflow": "pause",
	"skip a call": "skip",
	"retry a call": "retry",
} as const;

/** What was held back goes on: nobody mends it later. */
export async function calmExtras({ env, pi, account }: Pick<Stage, "env" | "pi" | "account">): Promise<void> {
	await mendLauncher(env);
	const { launched, settled } = await account();
	for (const { runId, agentId, runner } of launched.values())
		if (runner === "workflow" && !settled.has(runId)) await pi.command(`/workflow resume ${agentId}`);
}

async function mendLauncher(env: PiEnv): Promise<void> {
	await rm(brokenBox(env), { force: true });
}

async function killOne(env: PiEnv, what: RegExp, chance: number): Promise<boolean> {
	const found = (await processesNaming(env.root)).filter(({ command }) => what.test(command));
	const one = found[Math.floor(chance * found.length)];
	if (!one) return false;
	try {
		return process.kill(one.pid, "SIGKILL");
	} catch {
		return false; // it has ended by itself
	}
}

async function labelsIn(artifacts: string | undefined, agentId: string): Promise<string[]> {
	if (artifacts === undefined) return [];
	const text = await readFile(join(artifacts, "..", `${agentId}.workflow.jsonl`), "utf8").catch(() => "");
	return [...text.matchAll(/"label":"(a\d+)"/g)].flatMap(([, label]) => label ?? []);
}

const brokenBox = ({ home }: PiEnv): string => join(home, "box-is-broken");
