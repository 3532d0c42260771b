/** The one way through the levels of the menu: choose, act, and see the list again, until the person goes back. */
import { messageOf } from "@pi-subagents/core";
import type { Choice, Screen } from "./screen.ts";

/** What goes wrong with a choice is said, and the list comes back. */
export async function walk(
	screen: Screen,
	choice: () => Choice | Promise<Choice>,
	act: (value: string) => Promise<void>,
): Promise<void> {
	let selected: string | undefined;
	for (;;) {
		const value = await screen.choose({ ...(await choice()), ...(selected === undefined ? {} : { selected }) });
		if (value === undefined) return;
		selected = value;
		try {
			await act(value);
		} catch (error) {
			screen.notify(messageOf(error), "error");
		}
	}
}

/** The way to a level, as its title. */
export function trail(...names: readonly string[]): string {
	return names.join(" › ");
}
