/** Something new step by step: Escape goes one step back, and what was said before is still there. */
import type { Menu } from "./context.ts";
import type { Question } from "./screen.ts";

/** Answers whether it was done; otherwise the person wants to go back. */
export type Step<Draft> = (draft: Draft, menu: Menu) => Promise<boolean>;

export async function goThrough<Draft>(steps: readonly Step<Draft>[], draft: Draft, menu: Menu): Promise<void> {
	for (let at = 0; at >= 0 && at < steps.length; ) at += (await steps[at]?.(draft, menu)) ? 1 : -1;
}

interface Asked extends Question {
	/** What is wrong with it, in words for the person. */
	check: (text: string) => Promise<string | undefined>;
}

/** Asks again until nothing is wrong with the answer. */
export async function askText<Key extends string>(
	{ screen }: Menu,
	draft: { [Each in Key]: string },
	key: Key,
	{ check, ...question }: Asked,
): Promise<boolean> {
	for (let fault: string | undefined; ; ) {
		const text = await screen.input({ ...question, value: draft[key], fault });
		if (text === undefined) return false;
		draft[key] = text.trim();
		fault = await check(draft[key]);
		if (fault === undefined) return true;
	}
}
