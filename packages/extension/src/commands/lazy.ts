/** A command whose code comes with its first use: pi waits for all that is loaded at its start. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export type Command = Parameters<ExtensionAPI["registerCommand"]>[1];
type Code = Omit<Command, "description">;

export function lazyCommand(description: string, load: () => Promise<Code>): Command {
	let loading: Promise<Code> | undefined;
	const command = () => {
		loading ??= load();
		return loading;
	};
	return {
		description,
		getArgumentCompletions: async (typed) => (await (await command()).getArgumentCompletions?.(typed)) ?? null,
		handler: async (args, ctx) => (await command()).handler(args, ctx),
	};
}
