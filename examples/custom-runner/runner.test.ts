/** The suite that every runner must pass, and the little that it has to know about this one. */
import { test } from "node:test";
import { type CreateFixture, runnerConformance } from "@pi-subagents/core/testing";
import { Busy, chatRunner, type Message, type Model } from "./runner.ts";

const forever = (signal: AbortSignal) =>
	new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));

const fixture: CreateFixture = async (script) => {
	const released = Promise.withResolvers<void>();
	const asked = [1, 2, 3].map(() => Promise.withResolvers<void>());
	let requests = 0;
	let seen: readonly Message[] = [];
	const model: Model = async (messages, signal) => {
		seen = [...messages];
		asked[requests++]?.resolve();
		if (script.does === "fail") throw new Error(script.error);
		if (script.does === "retry") throw new Busy("overloaded");
		if (script.does === "use_tool") return { text: script.text, tool: { name: "wait", args: {} } };
		if (script.does === "compact" && requests === 1) return { text: script.text, isFull: true };
		if (script.does !== "work") return forever(signal);
		if (requests > 1) return { text: script.text };
		await released.promise;
		return { tool: { name: "look", args: {} } };
	};
	return {
		runner: chatRunner({
			models: { "any/model": model },
			tools: { look: async () => "nothing here", wait: (_, signal) => forever(signal) },
			retryDelayMs: 60_000,
		}),
		spec: {
			agentId: "a1",
			run: 1,
			type: "scout",
			description: "look around",
			task: "Look around.",
			cwd: process.cwd(),
			runner: "session",
			model: "any/model",
			tools: ["look", "wait"],
			limits: {},
			origins: {},
			warnings: [],
		},
		asked: async (times = 1) => asked[times - 1]?.promise,
		release: () => released.resolve(),
		requests: () => requests,
		heard: () => seen.filter(({ role }) => role === "user").map(({ text }) => text),
		cleanup: async () => undefined,
	};
};

for (const { name, run } of runnerConformance) test(name, () => run(fixture));
