/** What a scripted model was asked so far, and waiting for what it will be asked. */
import { Signal } from "../wait.ts";
import { describeRequest, type RequestView } from "./request.ts";

export class RequestLog<T extends RequestView> {
	readonly entries: T[] = [];
	readonly #signal = new Signal();

	add(entry: T): void {
		this.entries.push(entry);
		this.#signal.changed();
	}

	/** An entry changed, such as its `aborted` flag. */
	changed(): void {
		this.#signal.changed();
	}

	/** The first request, already seen or still to come, for which the condition holds. */
	next(condition: (request: T) => boolean, options: { readonly timeoutMs?: number } = {}): Promise<T> {
		return this.#signal.waitFor(() => this.entries.find(condition), {
			...options,
			describe: () => `No such request among these:\n${this.entries.map(describeRequest).join("\n") || "(none)"}`,
		});
	}

	end(reason: string): void {
		this.#signal.end(reason);
	}
}
