/** The menu over real presets, settings and a real manager; children are puppets, and the person is a script. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Clock, Manager, RunSpec } from "@pi-subagents/core";
import { type fakeRunner, handClock } from "@pi-subagents/core/testing";
import { createLauncher, type LaunchHost, type Settings, type StoredTrust } from "@pi-subagents/launch";
import { requireResources } from "@pi-subagents/runners/session";
import type { Choice, Picked, Screen } from "@pi-subagents/widget/dialogs";
import { hostIn } from "../../../launch/test/fixture.ts";
import type { CommandHost, PiLauncher, PiSchedules } from "../../src/host.ts";
import { topMenu } from "../../src/menu/menu.ts";
import type { Menu } from "../../src/screen/navigation.ts";
import type { ModelPrice } from "../../src/subagent/resume-cost.ts";
import { puppets, text } from "../fixture.ts";

/** What the person does next: chooses, types, edits, says yes or no, or goes back. */
export type Step =
	| { choose: string; press?: string }
	| { type: string }
	| { edit: (before: string) => string }
	| { say: "yes" | "no" }
	| "back";

export interface World extends AsyncDisposable {
	cwd: string;
	agentDir: string;
	manager: Manager;
	launcher: PiLauncher;
	runner: ReturnType<typeof fakeRunner>;
	schedules: PiSchedules;
	ctx: ExtensionCommandContext;
	/** The warnings. */
	told: string[];
	/** The settings that whoever listens heard of. */
	heard: Settings[];
	/** Opens the menu and goes through it; what is left of it is left with Escape. Everything that was shown. */
	runMenu(...steps: readonly (Step | (() => void | Promise<void>))[]): Promise<string[]>;
	write(path: string, content: string): Promise<void>;
	read(path: string): Promise<string>;
}

type TestHost = CommandHost & LaunchHost<ExtensionContext>;

export interface WorldOptions {
	trust?: StoredTrust;
	/** On pi's own screen, where conversations can be opened and keys act on agents. */
	isOnScreen?: boolean;
	/** What pi knows of a model; nothing, unless given. */
	modelOf?(provider: string, id: string): ModelPrice | undefined;
	/** Whoever has real schedules to show; without it there are none. */
	schedule?(parts: {
		manager: Manager;
		launcher: PiLauncher;
		host: TestHost;
		clock: Clock;
	}): PiSchedules & Partial<AsyncDisposable>;
}

const noSchedules = { list: async () => [], configure: () => undefined } as unknown as PiSchedules;

export async function world({
	trust = "unasked",
	isOnScreen = false,
	modelOf = () => undefined,
	schedule = () => noSchedules,
}: WorldOptions = {}): Promise<World> {
	const root = await mkdtemp(join(tmpdir(), "menu-"));
	const [cwd, agentDir] = [join(root, "project"), join(root, "agent")];
	await Promise.all([mkdir(cwd), mkdir(agentDir)]);
	const { runner, manager } = puppets();
	const heard: Settings[] = [];
	const told: string[] = [];
	const ctx = contextIn(cwd, modelOf);
	const host: TestHost = {
		...hostIn<ExtensionContext>({ cwd, agentDir, trust }),
		warn: (notice: string) => !told.includes(notice) && told.push(notice),
		session: () => ctx,
		isProjectTrusted: () => trust === "yes",
		requireResources: (spec: RunSpec) => requireResources(host, spec),
	} as unknown as TestHost;
	const launcher = createLauncher(host, (settings) => {
		heard.push(settings);
		schedules.configure(settings);
	});
	const clock = handClock(60_000);
	const schedules: PiSchedules & Partial<AsyncDisposable> = schedule({ manager, launcher, host, clock });
	return {
		cwd,
		agentDir,
		manager,
		launcher,
		runner,
		schedules,
		ctx,
		told,
		heard,
		async runMenu(...steps) {
			const shown: string[] = [];
			const screen = scripted([...steps], shown);
			const view = async (id: string) => void shown.push(`the conversation of ${id}`);
			const menu: Menu = { host, launcher, manager, schedules, ctx, screen, clock };
			await topMenu(isOnScreen ? { ...menu, view } : menu);
			return shown;
		},
		async write(path, content) {
			await mkdir(dirname(join(root, path)), { recursive: true });
			await writeFile(join(root, path), content);
		},
		read: (path) => readFile(join(root, path), "utf8"),
		async [Symbol.asyncDispose]() {
			await schedules[Symbol.asyncDispose]?.();
			await rm(root, { recursive: true, maxRetries: 5 });
		},
	};
}

/** A session without a file, in a terminal. */
function contextIn(cwd: string, find: NonNullable<WorldOptions["modelOf"]>): ExtensionCommandContext {
	const sessionManager = { getSessionId: () => "s1", getSessionFile: () => undefined };
	return {
		cwd,
		mode: "tui",
		hasUI: true,
		sessionManager,
		modelRegistry: { find },
	} as unknown as ExtensionCommandContext;
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
	const pick = async ({ title, intro, items, empty, keys = [] }: Choice): Promise<Picked | undefined> => {
		const labels = items().map(({ branch = "", mark, label, tag }) =>
			[branch + (mark?.text ?? ""), label, tag?.text].filter(Boolean).join(" "),
		);
		headed(title, intro, labels.join(" | ") || empty);
		const step = await next();
		if (step === "back") return undefined;
		if (!("choose" in step))
			throw new Error(`Asked to choose at "${title}", but the script says ${JSON.stringify(step)}.`);
		const found = items().find(({ label, value }) => label === step.choose || value === step.choose);
		if (!found) throw new Error(`There is no "${step.choose}" at "${title}", only ${labels.join(" | ")}.`);
		if (step.press !== undefined && !keys.some(({ key, isOffered }) => key === step.press && isOffered(found.value)))
			throw new Error(`"${step.press}" does nothing at "${title}".`);
		return { value: found.value, ...(step.press === undefined ? {} : { key: step.press }) };
	};
	return {
		pick,
		choose: async (choice) => (await pick(choice))?.value,
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
		inSequence: (work) => work(),
		notify: (said, level = "info") => headed(`${level}: ${said}`),
	};
}
