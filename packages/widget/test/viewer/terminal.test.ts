/** The viewer as an overlay of pi's own screen, in a terminal that shows what a person would see. */
import { type Terminal, Text, TuiMainScreen } from "@earendil-works/pi-tui";
import xterm from "@xterm/headless";
import { describe, expect, test } from "vitest";
import { called, KEYS, lines, MemorySource, result, said, show, told } from "./fixture.ts";

class EmulatedTerminal implements Terminal {
	readonly columns: number;
	readonly rows: number;
	readonly kittyProtocolActive = false;
	readonly titles: string[] = [];
	readonly #xterm: xterm.Terminal;
	#onInput: (data: string) => void = () => undefined;

	constructor(columns: number, rows: number) {
		this.columns = columns;
		this.rows = rows;
		this.#xterm = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
		this.#xterm.onTitleChange((title) => this.titles.push(title));
	}

	start(onInput: (data: string) => void): void {
		this.#onInput = onInput;
	}

	press(data: string): void {
		this.#onInput(data);
	}

	write(data: string): void {
		this.#xterm.write(data);
	}

	/** All that was written is on it. */
	drawn(): Promise<void> {
		return new Promise((resolve) => this.#xterm.write("", resolve));
	}

	lines(): string[] {
		const { baseY } = this.#xterm.buffer.active;
		return Array.from({ length: this.rows }, (_, row) =>
			(this.#xterm.buffer.active.getLine(baseY + row)?.translateToString() ?? "").trimEnd(),
		);
	}

	async drainInput(): Promise<void> {}
	stop(): void {}
	moveBy(count: number): void {
		if (count !== 0) this.write(count > 0 ? `\u001b[${count}B` : `\u001b[${-count}A`);
	}
	hideCursor(): void {
		this.write("\u001b[?25l");
	}
	showCursor(): void {
		this.write("\u001b[?25h");
	}
	clearLine(): void {
		this.write("\u001b[K");
	}
	clearFromCursor(): void {
		this.write("\u001b[J");
	}
	clearScreen(): void {
		this.write("\u001b[2J\u001b[H");
	}
	setTitle(): void {}
	setProgress(): void {}
}

const source = () =>
	new MemorySource([
		told("Look at \u001b[2J\u001b]0;stolen\u0007 漢字 and \u202eevil\u202c."),
		...Array.from({ length: 60 }, (_, index) => said(`Message **${index + 1}**`)),
		called(["1", "bash", { command: "ls\t-l\u0000\u0007" }]),
		result("1", "bash", `\u001b[31mred\u001b[0m\n\u001b[10;10Hjump\r\n漢字漢字\n${lines(20)}`),
	]);

async function onScreen(columns: number, rows: number) {
	const terminal = new EmulatedTerminal(columns, rows);
	const tui = new TuiMainScreen(terminal);
	tui.addChild(new Text(lines(100, "what was there before"), 0, 0));
	const shown = await show(source(), { width: columns, height: rows, requestRender: () => tui.requestRender() });
	tui.start();
	const overlay = tui.showOverlay(shown.viewer, { width: "100%", maxHeight: "100%" });
	const look = async () => {
		await new Promise((resolve) => setImmediate(resolve));
		tui.renderNow();
		await terminal.drawn();
		return terminal.lines();
	};
	return { terminal, tui, overlay, look };
}

describe("in a terminal", () => {
	test.each([40, 80, 120, 200])("it fills %i columns, and nothing in it reaches out", async (columns) => {
		const { terminal, tui, overlay, look } = await onScreen(columns, 24);
		const screen = await look();
		expect(screen.filter((line) => line.length < columns - 8 || !/^[╭│├╰].*[╮│┃┤╯]$/.test(line))).toEqual([]);
		expect(screen.join("\n")).toContain("● ls -l");
		expect(terminal.titles).toEqual([]);
		terminal.press(KEYS.enter);
		expect((await look()).join("\n")).toContain("line 20");
		terminal.press(KEYS.home);
		expect((await look()).join("\n")).toContain("Look at  漢字 and evil.");
		overlay.hide();
		expect((await look()).at(-1)).toBe("what was there before 100");
		tui.stop();
	});

	test("what is typed goes to the line of the viewer", async () => {
		const { terminal, tui, look } = await onScreen(80, 24);
		for (const key of ["/", ..."Message 7"]) terminal.press(key);
		expect((await look()).join("\n")).toContain("/ Message 7");
		terminal.press(KEYS.enter);
		await look();
		expect((await look()).join("\n")).toContain("Message 7");
		tui.stop();
	});
});
