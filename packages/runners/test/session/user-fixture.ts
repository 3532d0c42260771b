/** A user with extensions of their own, to see what of them a child loads. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { otherwise, say } from "@pi-subagents-dev/testkit";
import type { Outcome } from "../../../core/src/index.ts";
import { type SessionHost, sessionRunner } from "../../src/session/index.ts";
import { type SessionWorld, sessionWorld } from "../fixtures/session.ts";

export interface Change {
	spec?: Partial<SessionWorld["spec"]>;
	host?: Partial<SessionHost>;
}

export function start(world: SessionWorld, { spec = {}, host = {} }: Change = {}) {
	return sessionRunner({ ...world.host, ...host }).start({ ...world.spec, ...spec }, () => undefined);
}

export function runToEnd(world: SessionWorld, change?: Change): Promise<Outcome> {
	return start(world, change).settled;
}

export async function put(path: string, text: string): Promise<string> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, text);
	return path;
}

/** An extension of the user's that writes down what happens to it. */
export function diary(log: string, name: string, more = ""): string {
	return `import { appendFileSync } from "node:fs";
const note = (what) => appendFileSync(${JSON.stringify(log)}, ${JSON.stringify(name)} + " " + what + "\\n");
export default function (pi) {
	note("loaded");
	pi.on("session_start", () => note("started"));
	pi.on("session_shutdown", () => { note("shut down"); ${more} });
	pi.registerTool({ name: ${JSON.stringify(`${name}_tool`)}, label: "x", description: "A tool.", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: "used" }], details: {} }) });
}
`;
}

/** A user with three extensions: a file, a package, and us. */
export async function userWorld(script: Parameters<typeof sessionWorld>[0] = otherwise(say("ok"))) {
	const world = await sessionWorld(script);
	const { agentDir } = world.host;
	const log = join(world.dir, "log");
	await put(log, "");
	await put(join(agentDir, "extensions", "linter.ts"), diary(log, "linter"));
	await put(join(agentDir, "extensions", "bank", "index.ts"), diary(log, "bank"));
	await put(join(agentDir, "extensions", "bank", "package.json"), '{ "name": "@acme/pi-bank" }');
	await put(join(agentDir, "extensions", "agents", "index.ts"), diary(log, "ours"));
	await put(join(agentDir, "extensions", "agents", "package.json"), '{ "name": "@pi-subagents/extension" }');
	const logged = async () => (await readFile(log, "utf8")).split("\n").filter(Boolean).sort();
	return { ...world, log, logged };
}
