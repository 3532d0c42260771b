/** The `schedule` of a tool call: kept as a job, with an answer in words. */
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Call } from "../tools/agent.ts";
import { parseRequest } from "./request.ts";
import type { Schedules } from "./schedules.ts";
import { addedText } from "./words.ts";

export function scheduleCalls(schedules: Schedules) {
	return async (schedule: string, call: Call, ctx: ExtensionContext): Promise<string> =>
		addedText(await schedules.add(parseRequest(schedule), call, ctx));
}
