/** What a child would be given, without asking its model anything. */
import type { RunSpec } from "../runner.ts";
import { openSession, type SessionHost } from "./open.ts";

export interface SessionPreview {
	/** As the provider would get it. */
	systemPrompt: string;
	/** The size of the tools' declarations in characters. */
	toolCharacters: number;
}

export async function previewSession(host: SessionHost, spec: RunSpec): Promise<SessionPreview> {
	const session = await openSession(host, spec, () => false);
	if (!session) throw new Error("The session was not opened.");
	try {
		const active = new Set(session.getActiveToolNames());
		const tools = session.getAllTools().filter(({ name }) => active.has(name));
		const declared = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
		return { systemPrompt: session.systemPrompt, toolCharacters: JSON.stringify(declared).length };
	} finally {
		session.dispose();
	}
}
