/**
 * An agent's conversation on the whole screen, live: follows its end, goes back, searches, and lets a person steer,
 * answer and stop the agent. Never throws: an error out of a component would end pi.
 */
import type { Component, Focusable, TuiMouseEvent, TuiMouseEventResult } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { frame, type Layout, layOut } from "./frame.ts";
import { type Command, commandOf } from "./keys.ts";
import type { ViewerActions, ViewerOptions } from "./options.ts";
import { Pane, type PaneView } from "./pane.ts";
import { choosePrompt, type Prompt, type Typing, typePrompt } from "./prompt.ts";
import { clip } from "./row.ts";
import { bodyOf, hintsOf, questionLines, statusOf, type Telling } from "./telling.ts";

/** Lines of a question that are shown; the conversation has all of it. */
const MOST_QUESTION_LINES = 3;

type Words = Pick<Typing, "title" | "confirms" | "placeholder">;
const SEARCHING: Words = { title: "/", confirms: "search", placeholder: "text to look for" };
const STEERING: Words = { title: "Steer ›", confirms: "send", placeholder: "what it should know or do" };
const ANSWERING: Words = { title: "Answer ›", confirms: "send", placeholder: "your answer" };
/** Lines that the wheel of a mouse moves by at most. */
const MOST_WHEEL = 10;

/**
 * @example
 * ```ts
 * await ctx.ui.custom((tui, theme, keys, done) => new ConversationViewer({ source, keys, theme: viewerTheme(theme),
 *   rows: () => tui.terminal.rows, isLive: () => true, requestRender: () => tui.requestRender(), close: () => done(undefined) }),
 *   { overlay: true, overlayOptions: { width: "100%", maxHeight: "100%" } });
 * ```
 */
export class ConversationViewer implements Component, Focusable {
	readonly #options: ViewerOptions;
	readonly #actions: ViewerActions;
	readonly #pane: Pane;
	#prompt: Prompt | undefined;
	#isFocused = false;
	/** The next press of the same key stops the agent. */
	#isStopping = false;
	#isHelping = false;
	#isClosed = false;
	#notice: { text: string; isBad: boolean } | undefined;
	#layout: Layout | undefined;

	constructor(options: ViewerOptions) {
		this.#options = options;
		this.#actions = options.actions ?? {};
		const { source, theme, requestRender } = options;
		const onChange = () => {
			if (!this.#isClosed) requestRender();
		};
		this.#pane = new Pane({ source, theme, onChange, onTrouble: (error) => this.#complain(error) });
	}

	get focused(): boolean {
		return this.#isFocused;
	}

	set focused(isFocused: boolean) {
		this.#isFocused = isFocused;
		this.#prompt?.focus(isFocused);
	}

	render(width: number): string[] {
		const rows = Math.max(1, Math.floor(this.#options.rows()) || 1);
		try {
			return this.#draw(Math.max(1, Math.floor(width)), rows);
		} catch (error) {
			return [clip(`The viewer cannot be drawn: ${textOf(error)}`, width)];
		}
	}

	handleInput(data: string): void {
		this.#guard(() => {
			this.#notice = undefined;
			if (this.#prompt) return this.#prompt.handleInput(data);
			const command = commandOf(data, this.#options.keys);
			if (this.#isStopping) return this.#confirmStop(command);
			if (this.#isHelping) this.#isHelping = false;
			else if (command) this.#run(command);
		});
		this.#options.requestRender();
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		const { type, button, wheelDelta = 0, y } = event;
		if (type === "wheel") this.#guard(() => this.#pane.scroll(Math.max(-MOST_WHEEL, Math.min(MOST_WHEEL, wheelDelta))));
		else if (type === "click" && button === "left") this.#guard(() => this.#click(y));
		else return undefined;
		return { handled: true };
	}

	/** Colours may have changed. */
	invalidate(): void {
		this.#pane.forgetDrawn();
	}

	/** Reads nothing any more. */
	dispose(): void {
		this.#isClosed = true;
		this.#pane.close();
	}

	#draw(width: number, rows: number): string[] {
		const { theme, head, title = "" } = this.#options;
		const probe = layOut({ width, rows }, { head: 0, foot: 0 });
		const heading = head?.(probe.inner) ?? [];
		const foot = this.#foot(probe.inner);
		const layout = layOut({ width, rows }, { head: heading.length, foot: foot.length });
		this.#layout = layout;
		const view = this.#pane.draw(layout.inner, layout.body);
		const telling = this.#telling(view);
		const notice = this.#notice ?? { text: "", isBad: false };
		return frame(
			layout,
			{
				title: sanitize(title),
				head: heading,
				body: bodyOf(telling, view.rows, layout),
				from: telling.from,
				to: telling.to,
				notice: { text: notice.text, paint: notice.isBad ? theme.error : theme.accent },
				status: statusOf(telling),
				foot,
				hints: hintsOf(telling, layout.inner),
			},
			theme,
		);
	}

	#telling({ from, to }: PaneView): Telling {
		const { isLive, theme, keys, empty } = this.#options;
		const { length, isFollowing, news, search, unfolded } = this.#pane;
		const hasScrolling = length > 0 && !this.#isHelping;
		return {
			...{ theme, keys, length, isFollowing, news, search, unfolded },
			from: hasScrolling ? from : 0,
			to: hasScrolling ? to : 1,
			isLive: isLive(),
			isStopping: this.#isStopping,
			isHelping: this.#isHelping,
			empty: empty?.() ?? "",
			confirms: this.#prompt?.confirms,
			offered: (command) => this.#isOffered(command),
		};
	}

	/** The question, then what is being typed or chosen. */
	#foot(width: number): string[] {
		const question = this.#options.question?.();
		const asked = question === undefined ? [] : questionLines(question.text, width, this.#options.theme);
		return [...asked.slice(0, MOST_QUESTION_LINES), ...(this.#prompt?.render(width) ?? [])];
	}

	#isOffered(command: Command): boolean {
		const { isLive, question, relatives } = this.#options;
		const { steer, stop, answer, copyPath, open } = this.#actions;
		switch (command) {
			case "steer":
				return steer !== undefined && isLive();
			case "stop":
				return stop !== undefined && isLive();
			case "answer":
				return answer !== undefined && question?.() !== undefined;
			case "copy":
				return copyPath !== undefined;
			case "relatives":
				return open !== undefined && (relatives?.().length ?? 0) > 0;
			case "next":
			case "previous":
				return this.#pane.search !== undefined;
			default:
				return true;
		}
	}

	#run(command: Command): void {
		if (!this.#isOffered(command)) return;
		const pane = this.#pane;
		const { steer, copyPath } = this.#actions;
		const commands: Record<Command, () => void> = {
			up: () => pane.scroll(-1),
			down: () => pane.scroll(1),
			pageUp: () => pane.scrollScreens(-1),
			pageDown: () => pane.scrollScreens(1),
			halfUp: () => pane.scrollScreens(-0.5),
			halfDown: () => pane.scrollScreens(0.5),
			start: () => pane.toStart(),
			end: () => pane.toEnd(),
			unfold: () => pane.toggle("details"),
			thinking: () => pane.toggle("thinking"),
			search: () => this.#type(SEARCHING, (text) => pane.find(text)),
			next: () => pane.findNext(1),
			previous: () => pane.findNext(-1),
			steer: () => this.#type(STEERING, (text) => this.#act("Sent", () => steer?.(text))),
			answer: () => this.#answer(),
			stop: () => {
				this.#isStopping = true;
			},
			copy: () => this.#act("Copied", () => copyPath?.()),
			relatives: () => this.#choose(),
			help: () => {
				this.#isHelping = true;
			},
			close: () => this.#leave(),
		};
		commands[command]();
	}

	#confirmStop(command: Command | undefined): void {
		this.#isStopping = false;
		if (command === "stop") this.#act("Stopped", () => this.#actions.stop?.());
		else this.#notice = { text: "It goes on", isBad: false };
	}

	/** First out of the search, then out of the viewer. */
	#leave(): void {
		if (this.#pane.search) this.#pane.find("");
		else this.#options.close();
	}

	#type(words: Words, onText: (text: string) => void): void {
		const end = () => this.#setPrompt(undefined);
		const onSubmit = (text: string) => {
			end();
			if (text !== "") onText(text);
		};
		this.#setPrompt(typePrompt({ ...words, onSubmit, onCancel: end }, this.#options.theme));
	}

	/** An answer must never reach a question that was not on the screen when it was begun. */
	#answer(): void {
		const question = this.#options.question?.();
		if (!question) return;
		this.#type(ANSWERING, (text) => this.#act("Answered", () => this.#actions.answer?.(text, question)));
	}

	#choose(): void {
		const { relatives, theme } = this.#options;
		const end = () => this.#setPrompt(undefined);
		const onChoose = (id: string) => {
			end();
			this.#act("", () => this.#actions.open?.(id));
		};
		this.#setPrompt(choosePrompt({ items: relatives?.() ?? [], onChoose, onCancel: end }, theme));
	}

	#setPrompt(prompt: Prompt | undefined): void {
		this.#prompt = prompt;
		prompt?.focus(this.#isFocused);
	}

	/** Says what came of it; `done` where it has nothing to say itself. */
	#act(done: string, action: () => unknown): void {
		const say = (said: unknown) => {
			this.#notice = { text: typeof said === "string" ? sanitize(said) : done, isBad: false };
			if (!this.#isClosed) this.#options.requestRender();
		};
		const acting = async () => action();
		acting().then(say, (error: unknown) => this.#complain(error));
	}

	#click(y: number): void {
		if (!this.#layout || this.#prompt) return;
		const { isFramed, head } = this.#layout;
		this.#pane.toggleAt(y - head - (isFramed ? (head > 0 ? 2 : 1) : 0));
	}

	#guard(work: () => void): void {
		try {
			work();
		} catch (error) {
			this.#complain(error);
		}
	}

	#complain(error: unknown): void {
		this.#notice = { text: textOf(error), isBad: true };
		if (!this.#isClosed) this.#options.requestRender();
	}
}

function textOf(error: unknown): string {
	return sanitize(error instanceof Error ? error.message : String(error)) || "Something went wrong";
}
