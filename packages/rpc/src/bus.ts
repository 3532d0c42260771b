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

/** Throws a `TypeError` for what is no bus, as callers in JavaScript may pass it. */
export function requireBus(bus: unknown): void {
	const { on, emit } = Object(bus) as Partial<Bus>;
	if (typeof on !== "function" || typeof emit !== "function")
		throw new TypeError(`bus must be an event bus with on and emit, not ${bus === null ? "null" : typeof bus}.`);
}
