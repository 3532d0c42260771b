/** `node main.ts`: an agent's answer reaches an inbox exactly once, though two of three processes are killed on the way. */
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, rmSync, writeSync } from "node:fs";
import { Manager, systemClock } from "@pi-subagents/core";
import { fakeRunner } from "@pi-subagents/core/testing";
import { createDelivery, type Messenger, parseSessionLines, type SessionLog } from "@pi-subagents/delivery";

const FILE = "inbox.jsonl";
const say = (text: string) => void writeSync(1, `${text}\n`); // at once: the process may be killed next
const die = () => process.kill(process.pid, "SIGKILL"); // no handler runs, no timer, no `finally`

// The session is a file with one entry on each line. Nothing in it is ever changed.
const entries = () => (existsSync(FILE) ? parseSessionLines(readFileSync(FILE, "utf8")) : []);
const append = (entry: object): string => {
	const id = crypto.randomUUID();
	appendFileSync(FILE, `${JSON.stringify({ id, ...entry })}\n`);
	return id;
};
const log: SessionLog = {
	append: (customType, data) => append({ type: "custom", customType, data }),
	entries,
	branchIds: () => entries().map(({ id }) => id),
	reread: async () => entries(),
};

async function open(messenger: Messenger): Promise<Manager> {
	const runners = { session: fakeRunner((run) => run.answer("Two files.")) }; // or any runner of core
	const manager = new Manager({ runners, clock: systemClock, newId: () => crypto.randomUUID().slice(0, 8) });
	await createDelivery({ manager, log, messenger }).sessionStarted();
	return manager;
}

async function launch(): Promise<void> {
	const manager = await open({ canSend: () => false, send: () => false, onArrived: () => undefined });
	const task = { type: "scout", description: "count files", task: "How many files?", cwd: process.cwd() };
	const spec = { ...task, runner: "session" as const, model: "any/model", tools: [], limits: {} };
	const { id } = manager.spawn({ ...spec, origins: {}, warnings: [] }, { isBackground: true });
	await manager.wait(id);
	say("launch: the agent has answered, and the process is killed before anyone could read it");
	die();
}

async function read(): Promise<void> {
	let received = 0;
	await open({
		canSend: () => true,
		send(notification) {
			append({ type: "custom_message", ...notification });
			received++;
			say(`read: received "${notification.details.agents[0]?.preview}", and the process is killed`);
			die();
			return true;
		},
		onArrived: () => undefined, // `send` knows it
	});
	if (received === 0) say("read: nothing new");
}

const modes: Record<string, () => Promise<void>> = { launch, read };
const mode = modes[process.argv[2] ?? ""];
if (mode) await mode();
else {
	rmSync(FILE, { force: true });
	for (const name of ["launch", "read", "read"])
		spawnSync(process.execPath, [...process.execArgv, import.meta.filename, name], { stdio: "inherit" });
}
