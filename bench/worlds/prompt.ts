/** What real pi sends to a model because of an extension, with many models and presets to choose from. */
import { createPiEnv, otherwise, runJson, type ServedRequest, say, startModelServer } from "@pi-subagents-dev/testkit";

/** In characters. */
export interface Added {
	/** The definitions of its tools, as sent. */
	tools: number;
	systemPrompt: number;
}

const models = Array.from({ length: 60 }, (_, index) => ({ id: `model-${index}` }));
/** Where all extensions of this kind look for presets. */
const agentFiles = Object.fromEntries(
	Array.from({ length: 100 }, (_, index) => [`agents/preset-${index}.md`, preset(index)]),
);

let plain: Promise<ServedRequest> | undefined;

export async function addedBy(extension: string): Promise<Added> {
	plain ??= firstRequest([]);
	const [without, having] = [await plain, await firstRequest([extension])];
	if (having.tools.length <= without.tools.length) throw new Error(`${extension} offers no tool`);
	if (having.messages.length !== without.messages.length) throw new Error(`${extension} adds messages`);
	return {
		tools: toolText(having).length - toolText(without).length,
		systemPrompt: having.systemPrompt.length - without.systemPrompt.length,
	};
}

async function firstRequest(extensions: string[]): Promise<ServedRequest> {
	const server = await startModelServer({ rules: [otherwise(say("Hello."))] });
	const env = await createPiEnv({ server, extensions, models, agentFiles });
	try {
		// A package of many files is compiled at its first start.
		const { code, stderr } = await runJson({ env, args: ["--no-session"], timeoutMs: 180_000 }, "Hello?");
		const [request] = server.requests;
		if (code !== 0 || !request) throw new Error(`pi exited with ${code}: ${stderr}`);
		return request;
	} finally {
		await env.cleanup();
		await server.close();
	}
}

function toolText({ raw }: ServedRequest): string {
	return JSON.stringify((raw as { tools: unknown }).tools);
}

function preset(index: number): string {
	const description = `Knows part ${index} of the project: how it works, what it needs and who depends on it. Ask it often.`;
	return `---\nname: preset-${index}\ndescription: "${description}"\n---\nLook closely, then tell.\n`;
}
