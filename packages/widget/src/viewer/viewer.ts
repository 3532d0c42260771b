/**
 * A full-screen live conversation: follows the end, scrolls, searches, and lets the user steer, answer and stop the
 * agent. Never throws: an error in a component would crash pi.
 */
import type { Component, Focusable, TuiMouseEvent, TuiMouseEventResult } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { clip } from "../cells/text.ts";
import { tailRows, withTail } from "./content/entry-renderer.ts";
import { frame, type Layout, layOut } from "./frame.ts";
import { type Command, commandOf } from "./keys.ts";
import type { ViewerActions, ViewerOptions } from "./options.ts";
import { Pane, type PaneView } from "./pane.ts";
import { type Prompt, selectPrompt, type TextPromptOptions, textPrompt } from "./prompt.ts";
import { bodyOf, helpView, hintsOf, questionLines, statusOf, type ViewerState } from "./status-line.ts";

/** The conversation shows the whole question. */
const MAX_QUESTION_LINES = 3;

type PromptText = Pick<TextPromptOptions, "title" | "confirmLabel" | "placeholder">;
const SEARCHING: PromptText = { title: "/", confirmLabel: "search", placeholder: "text to find" };
const STEERING: PromptText = { title: "Steer ›", confirmLabel: "send", placeholder: "what it should know or do" };
const ANSWERING: PromptText = { title: "Answer ›", confirmLabel: "send", placeholder: "your answer" };
const MAX_WHEEL = 10;

/** How far keys move the help, in lines of a page. */
const HELP_STEPS: Partial<Record<Command, (page: number) => number>> = {
	up: () => -1,
	down: () => 1,
	pageUp: (page) => -page,
	pageDown: (page) => page,
	halfUp: (page) => -page / 2,
	halfDown: (page) => page / 2,
	start: () => Number.NEGATIVE_INFINITY,
	end: () => Number.POSITIVE_INFINITY,
};

/**
 * @example
 * ```ts
 * await ctx.ui.custom((tui, theme, keys, done) => new ConversationViewer({ source, keys,
 *   theme: viewerTheme(theme, getMarkdownTheme()), rows: () => tui.terminal.rows, isLive: () => true, requestRender: () => tui.requestRender(), close: () => done(undefined) }),
 *   { overlay: true, overlayOptions: { width: "100%", maxHeight: "100%" } });
 * ```
 */
export class ConversationViewer implements Component, Focusable {
	readonly #options: ViewerOptions;
	readonly #actions: ViewerActions;
	readonly #pane: Pane;
	#prompt: Prompt | undefined;
	#isFocused = false;
	/** Waiting for a second press of the stop key. */
	#isStopping = false;
	/** The first line of the help on the screen, while it is shown. */
	#helpTop: number | undefined;
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
		this.#pane = new Pane({ source, theme, onChange, onError: (error) => this.#complain(error) });
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
			return [clip(`Cannot draw the viewer: ${textOf(error)}`, width)];
		}
	}

	handleInput(data: string): void {
		this.#guard(() => {
			this.#notice = undefined;
			if (this.#prompt) return this.#prompt.handleInput(data);
			const command = commandOf(data, this.#options.keys);
			if (this.#isStopping) return this.#confirmStop(command);
			if (this.#helpTop !== undefined) this.#scrollHelp(command);
			else if (command) this.#run(command);
		});
		this.#options.requestRender();
	}

	handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
		const { type, button, wheelDelta = 0, y } = event;
		if (type === "wheel") this.#guard(() => this.#pane.scroll(Math.max(-MAX_WHEEL, Math.min(MAX_WHEEL, wheelDelta))));
		else if (type === "click" && button === "left") this.#guard(() => this.#click(y));
		else return undefined;
		return { handled: true };
	}

	/** The colours may have changed. */
	invalidate(): void {
		this.#pane.forgetDrawn();
	}

	/** Stops reading. */
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
		const writing = this.#pane.isFollowing && this.#helpTop === undefined ? this.#options.writing?.() : undefined;
		const tail = tailRows(writing, layout, theme);
		const body = layout.body - tail.length;
		const view = this.#pane.draw(layout.inner, body);
		const help = this.#helpTop === undefined ? undefined : helpView(this.#state(view), layout, this.#helpTop);
		this.#helpTop = help?.top;
		const state = this.#state(help ?? view);
		const notice = this.#notice ?? { text: "", isBad: false };
		return frame(
			layout,
			{
				title: sanitize(title),
				head: heading,
				body: help?.rows ?? withTail(bodyOf(state, view.rows, { ...layout, body }), tail),
				from: state.from,
				to: state.to,
				notice: { text: notice.text, paint: notice.isBad ? theme.error : theme.accent },
				status: statusOf(state),
				foot,
				hints: hintsOf(state, layout.inner),
			},
			theme,
		);
	}

	#state({ from, to }: Pick<PaneView, "from" | "to">): ViewerState {
		const { isLive, isPaused, theme, keys, empty } = this.#options;
		const { length, isFollowing, unseen, search, unfolded } = this.#pane;
		const isHelping = this.#helpTop !== undefined;
		const hasScrolling = length > 0 || isHelping;
		return {
			theme,
			keys,
			length,
			isFollowing,
			unseen,
			search,
			unfolded,
			from: hasScrolling ? from : 0,
			to: hasScrolling ? to : 1,
			isLive: isLive(),
			isPaused: isPaused?.() ?? false,
			isStopping: this.#isStopping,
			isHelping,
			empty: empty?.() ?? "",
			confirmLabel: this.#prompt?.confirmLabel,
			offered: (command) => this.#isOffered(command),
		};
	}

	/** The question, then the open prompt. */
	#foot(width: number): string[] {
		const question = this.#options.question?.();
		const asked = question === undefined ? [] : questionLines(question.text, width, this.#options.theme);
		return [...asked.slice(0, MAX_QUESTION_LINES), ...(this.#prompt?.render(width) ?? [])];
	}

	#isOffered(command: Command): boolean {
		const { isLive, question, relatives, neighbours } = this.#options;
		const { steer, stop, answer, copyPath, open, ...actions } = this.#actions;
		switch (command) {
			case "steer":
				return steer !== undefined && isLive();
			case "stop":
				return stop !== undefined && isLive();
			case "pause":
			case "skip":
			case "retry":
				return actions[command] !== undefined && isLive();
			case "answer":
				return answer !== undefined && question?.() !== undefined;
			case "copy":
				return copyPath !== undefined;
			case "relatives":
				return open !== undefined && (relatives?.().length ?? 0) > 0;
			case "previousAgent":
				return open !== undefined && neighbours?.().previous !== undefined;
			case "nextAgent":
				return open !== undefined && neighbours?.().next !== undefined;
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
			pause: () => this.#act("Paused", () => this.#actions.pause?.()),
			skip: () => this.#act("Skipped", () => this.#actions.skip?.()),
			retry: () => this.#act("Runs again", () => this.#actions.retry?.()),
			copy: () => this.#act("Copied", () => copyPath?.()),
			previousAgent: () => this.#open(this.#options.neighbours?.().previous),
			nextAgent: () => this.#open(this.#options.neighbours?.().next),
			relatives: () => this.#choose(),
			help: () => {
				this.#helpTop = 0;
			},
			close: () => this.#leave(),
		};
		commands[command]();
	}

	#confirmStop(command: Command | undefined): void {
		this.#isStopping = false;
		if (command === "stop") this.#act("Stopped", () => this.#actions.stop?.());
		else this.#notice = { text: "Not stopped", isBad: false };
	}

	/** Leaves the search first, then the viewer. */
	#leave(): void {
		if (this.#pane.search) this.#pane.find("");
		else this.#options.close();
	}

	#type(text: PromptText, onText: (text: string) => void): void {
		const end = () => this.#setPrompt(undefined);
		const onSubmit = (text: string) => {
			end();
			if (text !== "") onText(text);
		};
		this.#setPrompt(textPrompt({ ...text, onSubmit, onCancel: end }, this.#options.theme));
	}

	/** An answer must only reach the question that was on the screen when typing began. */
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
			this.#open(id);
		};
		this.#setPrompt(selectPrompt({ items: relatives?.() ?? [], onChoose, onCancel: end }, theme));
	}

	#open(id: string | undefined): void {
		if (id !== undefined) this.#act("", () => this.#actions.open?.(id));
	}

	/** Keys that scroll, scroll the help; any other closes it. */
	#scrollHelp(command: Command | undefined): void {
		const step = command && HELP_STEPS[command];
		const page = Math.max(2, (this.#layout?.body ?? 0) - 1);
		this.#helpTop = step && Math.trunc((this.#helpTop ?? 0) + step(page));
	}

	#setPrompt(prompt: Prompt | undefined): void {
		this.#prompt = prompt;
		prompt?.focus(this.#isFocused);
	}

	/** Shows the text that the action returns, or `done`. */
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
