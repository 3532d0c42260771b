/** The menu over real presets, settings and a real manager; children are puppets, and the person is a script. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { Manager } from "@pi-subagents/core";
import { fakeRunner, handClock } from "@pi-subagents/core/testing";
import type { StoredTrust } from "../src/config.ts";
import type { Delivery } from "../src/delivery/delivery.ts";
import type { Host } from "../src/host.ts";
import { createLauncher } from "../src/launch.ts";
import type { Menu } from "../src/menu/context.ts";
import { topMenu } from "../src/menu/menu.ts";
import type { Choice, Screen } from "../src/menu/screen.ts";
import { createSchedules, type Schedules } from "../src/schedule/schedules.ts";
import type { Settings } from "../src/settings.ts";
import { text } from "./command-fixture.ts";

/** What the person does next: chooses, types, edits, says yes or no, or goes back. */
export type Step =
	| { choose: string }
	| { type: string }
	| { edit: (before: string) => string }
	| { say: "yes" | "no" }
	| "back";

export interface World extends AsyncDisposable {
	cwd: string;
	agentDir: string;
	manager: Manager;
	runner: ReturnType<typeof fakeRunner>;
	schedules: Schedules;
	ctx: ExtensionCommandContext;
	/** The settings that whoever listens heard of. */
	heard: Settings[];
	/** Opens the menu and goes through it; what is left of it is left with Escape. Everything that was shown. */
	walk(...steps: readonly (Step | (() => void | Promise<void>))[]): Promise<string[]>;
	write(path: string, content: string): Promise<void>;
	read(path: string): Promise<string>;
}

export async function world({ trust = "unasked" as StoredTrust } = {}): Promise<World> {
	const root = await mkdtemp(join(tmpdir(), "menu-"));
	const [cwd, agentDir] = [join(root, "project"), join(root, "agent")];
	await Promise.all([mkdir(cwd), mkdir(agentDir)]);
	const runner = fakeRunner();
	let ids = 0;
	const manager: Manager = new Manager({
		runners: { session: runner },
		clock: handClock(),
		newId: () => `agent${++ids}`,
		audience: { sessionCanAnswer: () => false, userCanAnswer: () => true },
	});
	const heard: Settings[] = [];
	const host = hostIn({ cwd, agentDir, trust });
	const launcher = createLauncher(host, (settings) => {
		heard.push(settings);
		schedules.configure(settings);
	});
	const ctx = contextIn(cwd);
	const clock = handClock(60_000);
	const onShutdown: (() => Promise<void>)[] = [];
	const pi = {
		on: (_type: string, handler: () => Promise<void>) => onShutdown.push(handler),
		events: { emit: () => undefined },
	} as unknown as ExtensionAPI;
	const schedules: Schedules = createSchedules(pi, {
		manager,
		launcher,
		host: { ...host, session: () => ctx },
		delivery: deafDelivery,
		clock,
	});
	return {
		cwd,
		agentDir,
		manager,
		runner,
		schedules,
		ctx,
		heard,
		async walk(...steps) {
			const shown: string[] = [];
			const screen = scripted([...steps], shown);
			await topMenu({ host, launcher, manager, schedules, ctx, screen, clock } satisfies Menu);
			return shown;
		},
		async write(path, content) {
			await mkdir(dirname(join(root, path)), { recursive: true });
			await writeFile(join(root, path), content);
		},
		read: (path) => readFile(join(root, path), "utf8"),
		async [Symbol.asyncDispose]() {
			for (const handler of onShutdown) await handler();
			await rm(root, { recursive: true });
		},
	};
}

/** A session without a file, in a terminal. */
function contextIn(cwd: string): ExtensionCommandContext {
	const sessionManager = { getSessionId: () => "s1", getSessionFile: () => undefined };
	return { cwd, mode: "tui", hasUI: true, sessionManager } as unknown as ExtensionCommandContext;
}

const deafDelivery = {
	apart: (launch: () => unknown) => launch(),
	expect: () => () => undefined,
	silence: () => undefined,
} as unknown as Delivery;

export function hostIn({ cwd, agentDir, trust }: { cwd: string; agentDir: string; trust: StoredTrust }): Host {
	const tools = ["read", "bash", "edit", "write", "grep", "find", "ls"].map((name) => ({ name, isActive: true }));
	return {
		agentDir,
		tell: () => undefined,
		storedTrust: () => trust,
		packageManifests: () => [],
		parent: () => ({ model: { provider: "fake", id: "one" } }),
		facts: async () => ({
			models: [{ provider: "fake", id: "one" }],
			tools,
			cwd: { path: cwd, kind: "directory", isAsked: false },
			isProjectTrusted: trust === "yes",
		}),
	} as unknown as Host;
}

/** Notes what is shown, and answers with the next step; Escape, once there are no more. */
function scripted(steps: (Step | (() => void | Promise<void>))[], shown: string[]): Screen {
	const next = async (): Promise<Step> => {
		const step = steps.shift() ?? "back";
		if (typeof step !== "function") return step;
		await step();
		return next();
	};
	const answer = async <Key extends string, Value>(key: Key, title: string): Promise<Value | undefined> => {
		const step = await next();
		if (step === "back") return undefined;
		if (!(key in step)) throw new Error(`Asked to ${key} at "${title}", but the script says ${JSON.stringify(step)}.`);
		return (step as unknown as Record<Key, Value>)[key];
	};
	const headed = (title: string, ...texts: readonly (string | undefined)[]) =>
		shown.push([title, ...texts.filter(Boolean)].join("\n"));
	return {
		async choose({ title, intro, items, empty }: Choice) {
			const labels = items().map(({ mark, label, tag }) => [mark?.text, label, tag?.text].filter(Boolean).join(" "));
			headed(title, intro, labels.join(" | ") || empty);
			const wanted = await answer<"choose", string>("choose", title);
			if (wanted === undefined) return undefined;
			const found = items().find(({ label, value }) => label === wanted || value === wanted);
			if (!found) throw new Error(`There is no "${wanted}" at "${title}", only ${labels.join(" | ")}.`);
			return found.value;
		},
		async input({ title, intro, value, fault }) {
			headed(title, intro, fault && `! ${fault}`, value && `> ${value}`);
			return answer("type", title);
		},
		async confirm({ title, intro }) {
			headed(title, intro);
			return (await answer<"say", string>("say", title)) === "yes";
		},
		async edit(title, before) {
			headed(title, before);
			return (await answer<"edit", (before: string) => string>("edit", title))?.(before);
		},
		async read(title, blocks) {
			headed(title, text(blocks));
		},
		busy: (title, work) => {
			headed(title);
			return work(new AbortController().signal, () => undefined);
		},
		async copy(copied) {
			headed(`copied ${copied}`);
		},
		notify: (said, level = "info") => headed(`${level}: ${said}`),
	};
}
