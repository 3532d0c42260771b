/** A manager with agents in the hands of a test, their files in a directory, and pi's side of an overlay. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExtensionContext, Theme } from "@earendil-works/pi-coding-agent";
import { type Component, KeybindingsManager, stripTerminalSequences, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";
import { type AgentRecord, Manager, type RunSpec } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import { expect } from "vitest";
import { createDialogs } from "../../src/questions/dialogs.ts";
import { openViewer, type ViewerDeps } from "../../src/viewer/viewer.ts";
import { spec } from "../fixture.ts";

const same = (_: string, text: string) => text;
const plain = {
	fg: same,
	bg: same,
	bold: (text: string) => text,
	italic: (text: string) => text,
	underline: (text: string) => text,
	inverse: (text: string) => text,
} as unknown as Theme;

export const said = (text: string) =>
	`${JSON.stringify({ type: "message", id: "1", message: { role: "assistant", content: [{ type: "text", text }] } })}\n`;

type Shown = Component & { dispose?(): void };

export async function world() {
	const dir = await mkdtemp(join(tmpdir(), "pi-subagents-viewer-"));
	const sessionDir = join(dir, "sessions");
	const clock = handClock();
	const runner = fakeRunner();
	const asked: string[] = [];
	let ids = 0;
	const manager = new Manager({
		runners: { session: runner, process: runner, workflow: runner },
		clock,
		newId: () => `a${++ids}`,
		audience: { sessionCanAnswer: () => false, userCanAnswer: () => true },
		onQuestion: ({ question }) => asked.push(question),
	});
	let session: ExtensionContext | undefined = {} as ExtensionContext;
	const told: string[] = [];
	const copied: string[] = [];
	const deps: ViewerDeps = {
		manager,
		clock,
		dialogs: createDialogs(),
		host: { session: () => session, sessionDir: () => sessionDir, warn: (text) => void told.push(text) },
		copy: async (text) => void copied.push(text),
	};
	const overlays: Shown[] = [];
	let renders = 0;
	const ctx = {
		mode: "tui",
		ui: {
			/** As pi does it: one after the other, each until it says that it is done. */
			custom: (factory: (...args: unknown[]) => Shown) =>
				new Promise((resolve) => {
					const tui = { terminal: { rows: 24 }, requestRender: () => renders++ };
					const done = (answer: unknown) => {
						overlays.pop()?.dispose?.();
						resolve(answer);
					};
					overlays.push(factory(tui, plain, new KeybindingsManager(TUI_KEYBINDINGS), done));
				}),
		},
	} as unknown as ExtensionContext;
	const screen = () =>
		(overlays.at(-1)?.render(80) ?? []).map((line) => stripTerminalSequences(line).trimEnd()).join("\n");
	/** Resolves when the screen shows it. What is awaited is work on files, which no clock of ours can hurry. */
	const shows = async (text: string | RegExp): Promise<string> => {
		let now = "";
		const look = expect.poll(
			() => {
				now = screen();
				return now;
			},
			{ interval: 1 },
		);
		await (typeof text === "string" ? look.toContain(text) : look.toMatch(text));
		return now;
	};
	return {
		...{ dir, sessionDir, clock, runner, manager, deps, ctx, told, copied, asked, overlays, screen, shows },
		renders: () => renders,
		launch: (more: Partial<RunSpec> = {}, parentAgentId?: string): AgentRecord =>
			manager.spawn({ ...spec, ...more }, parentAgentId === undefined ? {} : { parentAgentId }),
		open: (id: string) => openViewer(ctx, deps, id),
		press(...keys: string[]) {
			for (const key of keys) overlays.at(-1)?.handleInput?.(key);
		},
		async writeConversation(id: string, text: string) {
			await mkdir(join(sessionDir, id), { recursive: true });
			const file = join(sessionDir, id, "2026.jsonl");
			await writeFile(file, text, { flag: "a" });
			return file;
		},
		switchSession() {
			session = {} as ExtensionContext;
		},
		async [Symbol.asyncDispose]() {
			for (const overlay of overlays) overlay.dispose?.();
			await manager.shutdown();
			await rm(dir, { recursive: true, force: true });
		},
	};
}
