/** Reads presets that other extensions register: copies of plain JSON of bounded size. What they mean is for the server. */
import type { AgentDefinition, AgentRegistration } from "../protocol.ts";
import { messageOf } from "./error-message.ts";
import { type Fields, fieldsOf, MAX_ID, optionalBoolean, optionalText, text } from "./fields.ts";
import { copyJson } from "./json.ts";

/** More than any extension brings, and few enough to list. */
const MAX_AGENTS = 200;
/** As large as a preset file may be. */
const MAX_PROMPT = 256 * 1024;

export function readRegistration(get: Fields): AgentRegistration {
	const agents = get("agents");
	if (!Array.isArray(agents)) throw new Error("agents must be an array of objects");
	if (agents.length > MAX_AGENTS)
		throw new Error(`agents has ${agents.length} items; at most ${MAX_AGENTS} are allowed`);
	const exclusive = optionalBoolean(get, "exclusive");
	const owner = optionalText(get, "owner", MAX_ID);
	return {
		agents: Array.from(agents, (agent: unknown, index) => readDefinition(agent, `agents[${index}]`)),
		...(exclusive === undefined ? {} : { exclusive }),
		...(owner === undefined ? {} : { owner }),
	};
}

/** `name` is the one that the definition goes by, if it is not written in it. */
export function readDefinition(value: unknown, what: string, name?: unknown): AgentDefinition {
	fieldsOf(value, what);
	const copy = copyJson(value, what) as Record<string, unknown>;
	const get = fieldsOf(name === undefined ? copy : { ...copy, name }, what);
	try {
		return { ...copy, name: text(get, "name", MAX_ID), systemPrompt: text(get, "systemPrompt", MAX_PROMPT) };
	} catch (error) {
		throw new Error(`${what}: ${messageOf(error)}`);
	}
}
