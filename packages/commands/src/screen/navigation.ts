/** How the user moves through the menu: the loop of a level (choose, act, repeat until back) and the steps of a wizard. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Clock, Manager } from "@pi-subagents/core";
import { defined, messageOf } from "@pi-subagents/core/internal/base";
import type { Choice, Question, Screen } from "@pi-subagents/widget/dialogs";
import type { CommandHost, PiLauncher, PiSchedules } from "../host.ts";

/** Errors of an action are shown, then the list comes back, unless what it was about is gone. */
export function runMenu(
	screen: Screen,
	choice: () => Choice | undefined | Promise<Choice | undefined>,
	act: (value: string, key: string | undefined) => Promise<void>,
): Promise<void> {
	return screen.inSequence(async () => {
		let selected: string | undefined;
		for (;;) {
			const list = await choice();
			const picked = list && (await screen.pick({ ...list, ...defined({ selected }) }));
			if (!picked) return;
			selected = picked.value;
			try {
				await act(picked.value, picked.key);
			} catch (error) {
				screen.notify(messageOf(error), "error");
			}
		}
	});
}

/** The path to a level, as its title. */
export function breadcrumb(...names: readonly string[]): string {
	return names.join(" › ");
}

/** Resolves with false when the user goes back. */
export type Step<Draft> = (draft: Draft, menu: Menu) => Promise<boolean>;

export async function runWizard<Draft>(steps: readonly Step<Draft>[], draft: Draft, menu: Menu): Promise<void> {
	for (let at = 0; at >= 0 && at < steps.length; ) at += (await steps[at]?.(draft, menu)) ? 1 : -1;
}

interface TextQuestion extends Question {
	/** Returns an error message for the user, or undefined if valid. */
	check: (text: string) => Promise<string | undefined>;
}

/** Asks until the answer is valid or the user goes back. */
export async function askText<Key extends string>(
	{ screen }: Menu,
	draft: { [Each in Key]: string },
	key: Key,
	{ check, ...question }: TextQuestion,
): Promise<boolean> {
	for (let fault: string | undefined; ; ) {
		const text = await screen.input({ ...question, value: draft[key], fault });
		if (text === undefined) return false;
		draft[key] = text.trim();
		fault = await check(draft[key]);
		if (fault === undefined) return true;
	}
}

export interface Menu {
	host: CommandHost;
	launcher: PiLauncher;
	manager: Manager;
	schedules: PiSchedules;
	/** The session in which the menu was opened. */
	ctx: ExtensionContext;
	screen: Screen;
	/** Shows an agent's conversation live. Absent outside the TUI. */
	view?: (agentId: string) => Promise<void>;
	clock: Clock;
}
