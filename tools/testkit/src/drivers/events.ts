/** The JSON lines that pi writes in json and rpc mode. */
import type { JsonAgentSessionEvent, RpcExtensionUIRequest, SessionHeader } from "@earendil-works/pi-coding-agent";

/** Typed after the pi that the workspace depends on; newer ones may write more. */
export type PiEvent =
	| JsonAgentSessionEvent
	| SessionHeader
	| RpcExtensionUIRequest
	| {
			readonly type: "extension_error";
			readonly extensionPath: string;
			readonly event: string;
			readonly error: string;
	  };

/** Cuts a stream into lines at LF only: `readline` would also cut at U+2028, which JSON strings may contain. */
export class LineSplitter {
	#rest = "";

	/** The lines that are now complete, without empty ones. */
	push(text: string): string[] {
		const lines = (this.#rest + text).split("\n");
		this.#rest = lines.pop() ?? "";
		return lines.filter((line) => line !== "");
	}
}

export function parseLine(line: string): unknown {
	try {
		return JSON.parse(line);
	} catch {
		throw new Error(`pi wrote a line that is not JSON: ${line}`);
	}
}

/** The texts of the assistant's messages, in order. */
export function assistantTexts(events: readonly PiEvent[]): string[] {
	return events.flatMap((event) => {
		if (event.type !== "message_end" || event.message.role !== "assistant") return [];
		const text = event.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
		return text === "" ? [] : [text];
	});
}
