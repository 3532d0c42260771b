/** The dialogs of other extensions in the session, which share the screen with ours. */
import type { ExtensionUIContext, ExtensionUIDialogOptions } from "@earendil-works/pi-coding-agent";

type Show = (...args: unknown[]) => Promise<unknown>;
/** The dialog that opens now hears no key for a moment, or until the returned function is called. */
type Deafen = (ui: ExtensionUIContext) => () => void;

/** Where each has its options, and what it gives if it is withdrawn before it was shown. */
const DIALOGS = {
	select: { options: 2, withdrawn: undefined },
	confirm: { options: 2, withdrawn: false },
	input: { options: 2, withdrawn: undefined },
	editor: { options: 2, withdrawn: undefined },
	custom: { options: 1, withdrawn: undefined },
} as const;

/** Where a method that waits for ours keeps the one that does not. Global, because commands are a bundle of their own. */
const OWN = Symbol.for("pi-subagents:own-dialog");

/** The same screen, for dialogs that have waited for their turn. */
export function ownUi(ui: ExtensionUIContext): ExtensionUIContext {
	const methods = ui as unknown as Record<string, (Show & { [OWN]?: Show }) | undefined>;
	const own = Object.keys(DIALOGS).flatMap((name) => {
		const method = methods[name]?.[OWN];
		return method ? [[name, method]] : [];
	});
	return own.length === 0 ? ui : { ...ui, ...Object.fromEntries(own) };
}

export class OtherDialogs {
	/** The one that opened last. Up to pi 1.3 those below it are lost, so nothing may wait for them. */
	#latest: Promise<unknown> | undefined;
	/** One of ours is open. */
	#isHeld = false;
	/** How many wait for ours to close. */
	#waiting = 0;
	#line: Promise<unknown> = Promise.resolve();
	/** The object of the session that is open. */
	#shared: ExtensionUIContext | undefined;
	#change = Promise.withResolvers<void>();
	readonly #deafen: Deafen;

	constructor(deafen: Deafen) {
		this.#deafen = deafen;
	}

	/** Whether one is open, or opens as soon as ours is closed. */
	get isOpen(): boolean {
		return this.#latest !== undefined || this.#waiting > 0;
	}

	/** Resolves when none is open, or the signal fires. */
	closed(signal?: AbortSignal): Promise<void> {
		return this.#until(() => !this.isOpen, signal);
	}

	/** One of ours opens: others wait until the returned function is called. */
	hold(): () => void {
		this.#isHeld = true;
		return () => {
			this.#isHeld = false;
			this.#changed();
		};
	}

	/** pi gives all extensions of a session the same object, and a new one to each session. */
	share(ui: ExtensionUIContext): void {
		this.#latest = undefined;
		this.#shared = ui;
		const methods = ui as unknown as Record<keyof typeof DIALOGS, Show>;
		for (const [name, { options: at, withdrawn }] of Object.entries(DIALOGS)) {
			const method = name as keyof typeof DIALOGS;
			const show = methods[method];
			const shared: Show & { [OWN]?: Show } = (...args) => {
				if (isPanel(method, args[at])) return show(...args);
				const open = () => this.#follow(show(...args));
				if (!this.#isHeld && this.#waiting === 0) return open();
				const { signal } = (args[at] ?? {}) as ExtensionUIDialogOptions;
				const isWanted = () => !signal?.aborted && this.#shared === ui; // a session that has ended asks no more
				return this.#later(() => this.#openLate(ui, open), { signal, isWanted, withdrawn });
			};
			shared[OWN] = show;
			methods[method] = shared;
		}
		this.#changed();
	}

	#follow(shown: Promise<unknown>): Promise<unknown> {
		const end = () => {
			if (this.#latest === shown) this.#latest = undefined;
			this.#changed();
		};
		this.#latest = shown;
		shown.then(end, end);
		return shown;
	}

	/** It opens where another one was, so the next key may be meant for that one. */
	async #openLate(ui: ExtensionUIContext, open: () => Promise<unknown>): Promise<unknown> {
		const hear = this.#deafen(ui);
		try {
			return await open();
		} finally {
			hear();
		}
	}

	/** One after the other: they are independent, for none of them has been shown. */
	async #later(
		open: () => Promise<unknown>,
		{ signal, isWanted, withdrawn }: { signal: AbortSignal | undefined; isWanted: () => boolean; withdrawn: unknown },
	): Promise<unknown> {
		this.#waiting++;
		const turn = this.#line.then(() => this.#until(() => !this.#isHeld && this.#latest === undefined, signal));
		this.#line = turn;
		await turn;
		this.#waiting--;
		if (isWanted()) return open();
		this.#changed();
		return withdrawn;
	}

	async #until(isTrue: () => boolean, signal: AbortSignal | undefined): Promise<void> {
		const aborted = Promise.withResolvers<void>();
		const onAbort = () => aborted.resolve();
		signal?.addEventListener("abort", onAbort, { once: true });
		while (!isTrue() && !signal?.aborted) await Promise.race([this.#change.promise, aborted.promise]);
		signal?.removeEventListener("abort", onAbort);
	}

	#changed(): void {
		this.#change.resolve();
		this.#change = Promise.withResolvers();
	}
}

/** One that does not take the keys, or whose extension shows and hides it: it may stay for the whole session. */
function isPanel(method: keyof typeof DIALOGS, options: unknown): boolean {
	if (method !== "custom") return false;
	const { overlay, overlayOptions, onHandle } = Object(options) as Record<string, unknown>;
	const { nonCapturing } = Object(overlayOptions) as { nonCapturing?: unknown };
	return overlay === true && (nonCapturing === true || onHandle !== undefined);
}
