/**
 * What a scripted model was asked, reduced to what tests look at. The same for every way in:
 * `faux-model.ts` and `server/openai-request.ts` only say how to get the parts.
 */

export interface ToolCallView {
	readonly id: string;
	readonly name: string;
	readonly args: unknown;
}

/** A message of the conversation; system messages are in `RequestView.systemPrompt`. */
export type MessageView =
	| { readonly role: "user"; readonly text: string }
	| { readonly role: "assistant"; readonly text: string; readonly toolCalls: readonly ToolCallView[] }
	| ToolResultView;

export interface ToolResultView {
	readonly role: "tool";
	readonly id: string;
	/** Name of the tool, taken from the call if the wire format does not repeat it. */
	readonly name: string;
	readonly text: string;
}

export interface ToolView {
	readonly name: string;
	readonly description: string;
	readonly parameters: unknown;
}

/** What the wire gives; the rest of a view follows from it. */
export interface RequestParts {
	readonly model: string;
	readonly systemPrompt: string;
	readonly messages: readonly MessageView[];
	readonly tools: readonly ToolView[];
}

export interface RequestView extends RequestParts {
	/** 1 for the first request this model got. */
	readonly number: number;
	/** Text of the last user message, in whichever turn; empty if there is none. */
	readonly lastUserText: string;
	/** The results this request brings back: those after the last assistant message. */
	readonly lastToolResults: readonly ToolResultView[];
	/** How many answers the last user message will have had after this one: 1 for the first, 2 after its tool results. */
	readonly turn: number;
}

/** Completes the parts to a view. */
export function viewOf(number: number, parts: RequestParts): RequestView {
	const lastUser = parts.messages.findLastIndex((message) => message.role === "user");
	const lastAssistant = parts.messages.findLastIndex((message) => message.role === "assistant");
	return {
		...parts,
		number,
		lastUserText: parts.messages[lastUser]?.text ?? "",
		lastToolResults: parts.messages.slice(lastAssistant + 1).filter((message) => message.role === "tool"),
		turn: 1 + parts.messages.slice(lastUser + 1).filter((message) => message.role === "assistant").length,
	};
}

/** The id of a scripted tool call: unique among all that one model makes, and readable. */
export function toolCallId(request: RequestView, index: number): string {
	return `call_${request.number}_${index}`;
}

/** One line for error messages: what was asked, short enough to read. */
export function describeRequest(request: RequestView): string {
	const results = request.lastToolResults.map((result) => `${result.name}: ${shorten(result.text)}`);
	return [
		`request ${request.number}`,
		`model ${request.model}`,
		`turn ${request.turn}`,
		`last user text ${shorten(request.lastUserText)}`,
		`tool results [${results.join("; ")}]`,
		`tools [${request.tools.map((tool) => tool.name).join(", ")}]`,
	].join(", ");
}

function shorten(text: string): string {
	return JSON.stringify(text.length > 160 ? `${text.slice(0, 160)}…` : text);
}
