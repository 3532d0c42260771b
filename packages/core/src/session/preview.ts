/** What a child would be given, without asking its model anything. */
import type { RunSpec } from "../runner.ts";
import { openConversation } from "./conversation.ts";
import type { SessionHost } from "./host.ts";
import { openChild } from "./open.ts";
import { SharedResources } from "./resources.ts";

export interface SessionPreview {
	/** As the provider would get it. */
	systemPrompt: string;
	/** The size of the tools' declarations in characters. */
	toolCharacters: number;
}

export async function previewSession(host: SessionHost, spec: RunSpec): Promise<SessionPreview> {
	const { sessionDir: _kept, events: _told, ...quietHost } = host; // nobody lives here
	const identity = { agentId: "preview", run: 1 };
	const { signal } = new AbortController();
	const child = await openChild(
		{
			host: quietHost,
			resources: new SharedResources(),
			conversation: openConversation(quietHost, { ...spec, ...identity }),
			askedAt: performance.now(),
			signal,
		},
		{ ...spec, ...identity },
	);
	if (!child) throw new Error("The session was not opened.");
	try {
		const { session } = child;
		const active = new Set(session.getActiveToolNames());
		const tools = session.getAllTools().filter(({ name }) => active.has(name));
		const declared = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
		return { systemPrompt: session.systemPrompt, toolCharacters: JSON.stringify(declared).length };
	} finally {
		await child.close();
	}
}
