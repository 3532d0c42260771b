/** What comes out of pi in rpc mode, sorted: responses by the id of their command, and events in order. */
import type { RpcResponse } from "@earendil-works/pi-coding-agent";
import { Signal, type WaitOptions } from "../wait.ts";
import { LineSplitter, type PiEvent, parseLine } from "./events.ts";

export class RpcInbox {
	readonly events: PiEvent[] = [];
	readonly #responses = new Map<string, RpcResponse>();
	readonly #lines = new LineSplitter();
	readonly #signal = new Signal();

	receive(text: string): void {
		try {
			for (const line of this.#lines.push(text)) this.#sort(parseLine(line) as PiEvent | RpcResponse);
			this.#signal.changed();
		} catch (error) {
			this.#signal.end(String(error));
		}
	}

	response(id: string, options: WaitOptions): Promise<RpcResponse> {
		return this.#signal.waitFor(() => this.#responses.get(id), options);
	}

	event(condition: (event: PiEvent) => boolean, options: WaitOptions & { readonly from: number }): Promise<PiEvent> {
		return this.#signal.waitFor(() => this.events.slice(options.from).find(condition), options);
	}

	end(reason: string): void {
		this.#signal.end(reason);
	}

	#sort(message: PiEvent | RpcResponse): void {
		if (message.type === "response") this.#responses.set(message.id ?? "", message);
		else this.events.push(message);
	}
}
