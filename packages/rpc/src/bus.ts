/** The event bus that extensions share. pi's `pi.events` is one, Node's `EventEmitter` is another. */

export interface Bus {
	/** Returns a function that stops listening, as pi's does; a bus with `off` may return anything. */
	on(channel: string, handler: (data: unknown) => void): unknown;
	emit(channel: string, data: unknown): unknown;
	off?(channel: string, handler: (data: unknown) => void): unknown;
}

/** Listens until the returned function is called. After that the handler is never called, whatever the bus does. */
export function listen(bus: Bus, channel: string, handler: (data: unknown) => void): () => void {
	let isListening = true;
	const listener = (data: unknown) => {
		if (isListening) handler(data);
	};
	const stop = bus.on(channel, listener);
	return () => {
		if (!isListening) return;
		isListening = false;
		if (typeof stop === "function") stop();
		else bus.off?.(channel, listener);
	};
}
