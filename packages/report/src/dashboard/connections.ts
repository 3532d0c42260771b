/**
 * How many connections the dashboard holds. Any program of this machine can open some and say nothing, or ask and not
 * read the answer. So when there are too many, the oldest that shows no data is closed: whoever comes next is served at
 * once. Pages that are fed stay.
 */
import type { Socket } from "node:net";

export class Connections {
	readonly #most: number;
	/** In the order in which they came. */
	readonly #open = new Set<Socket>();
	readonly #kept = new Set<Socket>();

	constructor(most: number) {
		this.#most = most;
	}

	/** Before it has said anything. */
	add(socket: Socket): void {
		this.#open.add(socket);
		socket.once("close", () => {
			this.#open.delete(socket);
			this.#kept.delete(socket);
		});
		if (this.#open.size <= this.#most) return;
		const oldest = this.#oldest() ?? socket;
		this.#open.delete(oldest); // its close comes later
		oldest.destroy();
	}

	#oldest(): Socket | undefined {
		for (const socket of this.#open) if (!this.#kept.has(socket)) return socket;
		return undefined;
	}

	/** It showed the token: it is closed by its own end only. False if there are too many of those. */
	keep(socket: Socket): boolean {
		if (this.#kept.size >= this.#most / 2) return false;
		this.#kept.add(socket);
		return true;
	}
}
