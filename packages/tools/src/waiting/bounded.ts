/**
 * The last limit on what a tool gives to a model, whatever was asked for and whatever went wrong. Each text also has its
 * own, smaller limit where it is made.
 */
import type { ToolDefinition } from "@earendil-works/pi-coding-agent";
import { clip, messageOf } from "@pi-subagents/core/internal/base";
import type { TSchema } from "typebox";
import type { KeepDetails } from "./failed-details.ts";

const MAX_CHARACTERS = 250_000;

/** A run that did not complete is a tool error, so that no model takes it for an answer. It may be as long as an answer. */
export class RunFailure extends Error {
	override readonly name = "RunFailure";
	/** Those of the call: what people are shown of its agents. */
	readonly details: object;

	constructor(text: string, details: object) {
		super(text);
		this.details = details;
	}
}

/** The same tool. Errors other than these are cut as `messageOf` does: system errors repeat what they were given. */
export function bounded<Params extends TSchema, Details>(
	tool: ToolDefinition<Params, Details>,
	{ onFailed }: { onFailed?: KeepDetails | undefined } = {},
): ToolDefinition<Params, Details> {
	return {
		...tool,
		async execute(...call) {
			try {
				const result = await tool.execute(...call);
				const content = result.content.map((part) =>
					part.type === "text" ? { ...part, text: clip(part.text, MAX_CHARACTERS) } : part,
				);
				return { ...result, content };
			} catch (error) {
				if (!(error instanceof RunFailure)) throw isShort(error) ? error : new Error(messageOf(error));
				onFailed?.(call[0], error.details);
				throw error.message.length > MAX_CHARACTERS ? new Error(clip(error.message, MAX_CHARACTERS)) : error;
			}
		},
	};
}

function isShort(error: unknown): boolean {
	return error instanceof Error && error.message === messageOf(error);
}
