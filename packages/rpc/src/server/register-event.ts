/** The older way to register a preset: an event with one definition, whose `result` we write before `emit` returns. */
import { type Bus, listen } from "../bus.ts";
import type { AgentDefinition } from "../protocol.ts";
import { readDefinition } from "./agent-definitions.ts";
import { messageOf } from "./error-message.ts";
import { fieldsOf } from "./fields.ts";

export const REGISTER_EVENT = "pi-subagents:runtime-agent-register:v1";

/** What the sender finds as `result` of its own event. */
type RegistrationResult = { ok: true; registration: Registration } | { ok: false; error: Error };

interface Registration {
	/** Removes the preset. Any number of times. */
	dispose(): void;
}

/** Registers the preset and returns the way to remove it. Throws an error for the sender. */
export type RegisterAgent = (definition: AgentDefinition) => () => void;

/**
 * Answers registrations until the returned function is called. An event that another server has answered is left alone.
 *
 * @example
 * ```ts
 * const stop = serveRegistrations(pi.events, (definition) => presets.add(definition));
 * ```
 */
export function serveRegistrations(bus: Bus, register: RegisterAgent): () => void {
	return listen(bus, REGISTER_EVENT, (event) => {
		if (typeof event !== "object" || event === null) return;
		try {
			const request = event as { result?: unknown };
			if (request.result === undefined) request.result = resultFor(event, register);
		} catch {
			return; // a frozen object or a proxy that throws has no place for an answer
		}
	});
}

function resultFor(event: object, register: RegisterAgent): RegistrationResult {
	try {
		const get = fieldsOf(event, "the event");
		const version = get("version");
		if (version !== 1) throw new Error(`version must be 1, not ${String(version)}`);
		const remove = register(readDefinition(get("definition"), "definition", get("name")));
		return { ok: true, registration: { dispose: remove } };
	} catch (error) {
		return { ok: false, error: new Error(messageOf(error)) };
	}
}
