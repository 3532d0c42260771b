/** Short names for the events that the tests tell stories with. */
import { type ChildEvent, type DescribeOptions, describe } from "../src/index.ts";

export const call = (tool: string, args: Record<string, unknown> = {}, callId?: string): ChildEvent =>
	callId === undefined ? { type: "tool_call", tool, args } : { type: "tool_call", callId, tool, args };
export const result = (tool: string, callId?: string, isError = false): ChildEvent =>
	callId === undefined ? { type: "tool_result", tool, isError } : { type: "tool_result", callId, tool, isError };
export const failure = (tool: string, callId?: string) => result(tool, callId, true);
export const text = (said: string): ChildEvent => ({ type: "assistant_text", text: said });
export const lineFor = (event: ChildEvent, options?: DescribeOptions) => describe(undefined, event, options).line;
