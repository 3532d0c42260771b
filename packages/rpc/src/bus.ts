/** The bus that extensions share, as far as this package needs it. pi's `pi.events` is one, Node's `EventEmitter` another. */

export interface Bus {
	/** Returns the way to stop listening, as pi's does, or anything else where there is `off`. */
	on(channel: string, handler: (data: unknown) => void): unknown;
	emit(channel: string, data: unknown): unknown;
	off?(channel: string, handler: (data: unknown) => void): unknown;
}

/** Listens until the function that it returns is called; whatever the bus does then, nothing is heard any more. */
export function listen(bus: Bus, channel: string, handler: (data: unknown) => void): () => void {
	let isListening = true;
	const hear = (data: unknown) => {
		if (isListening) handler(data);
	};
	const stop = bus.on(channel, hear);
	return () => {
		if (!isListening) return;
		isListening = false;
		if (typeof stop === "function") stop();
		else bus.off?.(channel, hear);
	};
}
