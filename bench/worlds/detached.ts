/**
 * Launching a run in a process of its own, beside starting the same process with nothing around it. The process itself
 * does nothing: what it would cost by itself is not what the parent pays.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Manager, type RunSpec, systemClock } from "@pi-subagents/core";
import { processRunner } from "@pi-subagents/runners/process";
import { createTempDir } from "@pi-subagents-dev/testkit";

const idle = fileURLToPath(new URL("../fixtures/idle-process.mjs", import.meta.url));
const home = await createTempDir();
const cwd = home.path;

/** A run that is launched does not keep its parent running, and here nothing else would. */
const awake = setInterval(() => undefined, 60_000);

export const closeDetached = async () => {
	clearInterval(awake);
	await home.remove();
};

let ids = 0;
const manager = new Manager({
	runners: {
		process: processRunner({
			agentDir: cwd,
			isProjectTrusted: () => false,
			wrapper: idle,
		}),
	},
	clock: systemClock,
	newId: () => `a${++ids}`,
});

const spec: RunSpec = {
	type: "scout",
	description: "look",
	task: "Look around.",
	cwd,
	runner: "process",
	outlives: true,
	runsDir: `${cwd}/runs`,
	model: "fake/fake-1",
	tools: ["read", "grep", "find", "ls"],
	systemPrompt: { mode: "append", text: "You look closely, then tell what you saw. ".repeat(50) },
	limits: { maxTurns: 20 },
	origins: {},
	warnings: [],
};

/** A process that has been started. */
export interface Launched {
	/** Resolves when nothing is left of it. */
	end(): Promise<unknown>;
}

/** Node tells of every process that it is about to start. */
let hear = (_child: ChildProcess): void => undefined;
subscribe("child_process", (message) => hear((message as { process: ChildProcess }).process));

/** Through the manager, as the tool does it: with the files that say what the run is and who watches it. */
export async function launchOurs(): Promise<Launched> {
	const { promise, resolve } = Promise.withResolvers<ChildProcess>();
	hear = resolve;
	const { id } = manager.spawn(spec, { isBackground: true });
	const child = await promise;
	await once(child, "spawn");
	return {
		end() {
			child.kill("SIGKILL");
			return manager.wait(id);
		},
	};
}

export async function launchBare(): Promise<Launched> {
	const child = spawn(process.execPath, [idle, cwd], {
		cwd,
		env: { ...process.env },
		detached: true,
		windowsHide: true,
		stdio: ["pipe", "pipe", "ignore"],
	});
	child.stdout.resume();
	await once(child, "spawn");
	return {
		end() {
			child.kill("SIGKILL");
			return once(child, "close");
		},
	};
}
