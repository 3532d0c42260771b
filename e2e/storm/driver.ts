/** Starts a real pi in which storms take place, one after the other, and looks what they leave. */

import type { PiBinary } from "@pi-subagents-dev/testkit";
import { watcher } from "../support/extensions/watcher.ts";
import { scene } from "../support/scene.ts";
import type { Extra } from "./extras.ts";
import { extraFiles } from "./extras-stage.ts";
import { stormModel } from "./model.ts";
import { leftProcesses } from "./oracle.ts";
import { LAGS } from "./patience.ts";
import type { Plan } from "./plan.ts";
import { createRepository } from "./repository.ts";
import { spy } from "./spy.ts";
import { weatherVariables } from "./weather.ts";
import { type StormReport, World } from "./world.ts";

export interface Storms extends AsyncDisposable {
	run(plan: Plan): Promise<StormReport>;
	/** What is left in pi after all of them: violations, and the heap. */
	end(): Promise<{ violations: string[]; heapMegabytes: number }>;
}

const preset = (name: string, more: string) => `---
name: ${name}
description: Weathers a storm
model: fake/fake-1
tools: read,bash,write
${more}
---
You are in a storm.
`;

export interface StormsOptions {
	join?: "async" | "smart";
	/** What storms may have besides agents. */
	extras?: readonly Extra[];
	/** Default: the pi that the workspace depends on. MCP servers need a newer one. */
	pi?: PiBinary | undefined;
}

export async function startStorms({ join = "async", extras = [], pi }: StormsOptions = {}): Promise<Storms> {
	const model = stormModel();
	const more = extraFiles(preset, extras);
	const settings = { maxConcurrent: 6, maxDepth: 3, idleTimeoutMinutes: 10, join, ...more.settings };
	const it = await scene([model.rule], {
		files: {
			".pi/subagents/storm.md": preset("storm", 'subagents: "*"'),
			"watcher.ts": watcher,
			"spy.ts": spy,
		},
		settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } },
		agentFiles: {
			// The user's own: a project that nobody trusts has no say in how agents run.
			"agents/storm-process.md": preset("storm-process", "runner: process"),
			"subagents.json": JSON.stringify(settings),
			...more.agentFiles,
		},
		variables: weatherVariables,
	});
	const repository = await createRepository(it.env);
	const world = new World(it, { model, repository, pi });
	return {
		run: (plan) => world.run(plan),
		async end() {
			const report = await world.report();
			await world.close();
			return {
				violations: [
					...report.left.map((stack) => `A timer was left: ${stack}`),
					...report.errors.map((error) => `Nobody caught: ${error}`),
					...(await repository.changes()),
					...(await leftProcesses(it.env.root, undefined, LAGS.farProcesses)),
				],
				heapMegabytes: report.heapMegabytes,
			};
		},
		async [Symbol.asyncDispose]() {
			await world.close();
			await it[Symbol.asyncDispose]();
		},
	};
}
