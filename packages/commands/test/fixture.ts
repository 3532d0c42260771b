/** Agents and presets for the tests of the commands. */
import { type AgentRecord, Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock, sampleSpec } from "@pi-subagents/core/testing";
import type { Preset, PresetSource } from "@pi-subagents/presets";
import { type Block, layout } from "@pi-subagents/widget/dialogs";

export const NOW = 1_000_000;

export const spec: RunSpec = {
	...sampleSpec,
	description: "Find the launch code",
	task: "Find the launch code.",
	tools: ["read"],
};

export function agent(fields: Partial<AgentRecord> = {}): AgentRecord {
	return {
		id: "a1b2c3d4",
		depth: 1,
		type: "scout",
		description: "Find the launch code",
		task: "Find the launch code.",
		cwd: "/project",
		runner: "session",
		model: "fake/one",
		isBackground: true,
		status: "running",
		run: 1,
		queuedAt: NOW - 73_000,
		startedAt: NOW - 72_000,
		lastEventAt: NOW - 2_000,
		activity: "Reading notes.txt",
		turns: 2,
		toolUses: 3,
		usage: { input: 20_000, output: 2_800, cacheRead: 0, cacheWrite: 0, cost: 0 },
		compactions: 0,
		...fields,
	};
}

/** A manager whose children are puppets: `agent1`, `agent2`, … Only the user can answer their questions. */
export function puppets() {
	const runner = fakeRunner();
	let ids = 0;
	const manager = new Manager({
		runners: { session: runner },
		clock: handClock(),
		newId: () => `agent${++ids}`,
		audience: { sessionCanAnswer: () => false, userCanAnswer: () => true },
	});
	return { runner, manager };
}

const source: PresetSource = { kind: "project", flavour: "subagents", inProject: true };

export function preset(fields: Partial<Preset> = {}): Preset {
	return {
		name: "scout",
		description: "Looks around. Changes nothing.",
		prompt: "You are a scout.",
		promptMode: "append",
		enabled: true,
		source,
		path: "/project/.pi/subagents/scout.md",
		origins: {},
		...fields,
	};
}

export function text(blocks: readonly Block[], width = 80): string {
	return layout(blocks, width).join("\n");
}

/** What a dialog needs of pi's screen besides itself, if nobody types. */
export const quietScreen = {
	getEditorText: () => "",
	onTerminalInput: () => () => undefined,
	setStatus: () => undefined,
	setWidget: () => undefined,
	theme: { fg: (_color: string, text: string) => text },
};
