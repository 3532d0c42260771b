/** The pi of a storm, over RPC: what it is asked, and what it answers. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type PiBinary, type PiEnv, type PiRpc, startRpc } from "@pi-subagents-dev/testkit";
import { jsonOf } from "../support/detached.ts";
import type { Watched } from "../support/extensions/watcher.ts";
import type { SpiedRecord } from "./spy.ts";

export class StormPi {
	readonly rpc: PiRpc;
	readonly #env: PiEnv;
	/** How many of its events were looked at. */
	#handled = 0;

	constructor(env: PiEnv, { args = [], pi }: { args?: readonly string[]; pi?: PiBinary | undefined } = {}) {
		const all = ["--session-dir", join(env.root, "sessions"), ...args];
		this.#env = env;
		this.rpc = startRpc({
			env,
			extensions: ["watcher.ts", "spy.ts"],
			args: all,
			...(pi ? { pi } : {}),
		});
	}

	async close({ isKill = false } = {}): Promise<void> {
		if (isKill && this.rpc.pid !== undefined) process.kill(this.rpc.pid, "SIGKILL");
		await this.rpc.close();
	}

	async command(message: string): Promise<void> {
		await this.rpc.send({ type: "prompt", message });
	}

	async saySomething(): Promise<void> {
		await this.rpc.send({ type: "prompt", message: "How is the weather?", streamingBehavior: "followUp" });
	}

	/** What its memory looks like. */
	async report(): Promise<Watched> {
		const from = this.rpc.events.length;
		await this.command("/report");
		const answer = await this.rpc.waitFor(
			(event) => event.type === "extension_ui_request" && event.method === "notify" && event.message.startsWith("{"),
			{ from },
		);
		if (answer.type !== "extension_ui_request" || answer.method !== "notify") throw new Error("no report");
		return JSON.parse(answer.message);
	}

	/** Its agents, as another extension sees them. */
	async records(): Promise<SpiedRecord[]> {
		await rm(this.#at("records.json"), { force: true });
		await this.command("/records");
		return (await jsonOf<SpiedRecord[]>(this.#at("records.json"))) ?? [];
	}

	/** What its session holds, whether that could be written or not. */
	async entries(): Promise<Record<string, unknown>[]> {
		await this.command("/entries");
		return (await jsonOf<Record<string, unknown>[]>(this.#at("entries.json"))) ?? [];
	}

	async isIdle(): Promise<boolean> {
		const state = await this.rpc.send({ type: "get_state" });
		return state.success && state.command === "get_state" && !state.data.isStreaming;
	}

	async sessionFile(): Promise<string> {
		const state = await this.rpc.send({ type: "get_state" });
		if (!state.success || state.command !== "get_state" || !state.data.sessionFile) throw new Error("no session");
		return state.data.sessionFile;
	}

	/** What came before is not looked at. */
	skip(): void {
		this.#handled = this.rpc.events.length;
	}

	/** Somebody sits there and says something to everything. Returns what they were told meanwhile. */
	answerDialogs(): string[] {
		const notices: string[] = [];
		for (const event of this.rpc.events.slice(this.#handled)) {
			if (event.type !== "extension_ui_request") continue;
			const { id, method } = event;
			if (method === "notify") notices.push(event.message);
			if (method === "input" || method === "editor")
				this.rpc.answer({ type: "extension_ui_response", id, value: "as you like" });
			if (method === "confirm") this.rpc.answer({ type: "extension_ui_response", id, confirmed: true });
			if (method === "select") this.rpc.answer({ type: "extension_ui_response", id, cancelled: true });
		}
		this.skip();
		return notices;
	}

	#at(name: string): string {
		return join(this.#env.home, name);
	}
}
