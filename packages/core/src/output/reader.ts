/**
 * Reads one JSON object character by character and reports where it and the objects inside it end. Accepts exactly
 * what `JSON.parse` does, up to a maximum depth.
 */

/** Where an object begins, and the index after its end. */
export interface Span {
	start: number;
	end: number;
}

/** No answer is that deep, and code that walks it later must not overflow the stack. */
const MAX_DEPTH = 500;

type State =
	| "key_or_end"
	| "key"
	| "colon"
	| "value"
	| "value_or_end"
	| "after_value"
	| "string"
	| "escape"
	| "hex"
	| "word"
	| NumberState;

type NumberState = "minus" | "zero" | "digits" | "point" | "fraction" | "e" | "sign" | "exponent";

export class ObjectReader {
	readonly start: number;
	/** It has read a key and its colon, so JSON was intended. */
	meansJson = false;
	readonly #onObject: (span: Span) => void;
	/** Where each open object begins; -1 is an array. */
	readonly #open: number[];
	#state: State = "key_or_end";
	#isKey = false;
	#word = "";
	/** How much of the literal or of the four hex digits was read. */
	#read = 0;

	/** The brace at `start` counts as read. */
	constructor(start: number, onObject: (span: Span) => void) {
		this.start = start;
		this.#open = [start];
		this.#onObject = onObject;
	}

	/** Whether a brace now would begin an object. */
	get expectsObject(): boolean {
		return (this.#state === "value" || this.#state === "value_or_end") && this.#open.length < MAX_DEPTH;
	}

	/** `wrong`: this is not JSON. Do not call again after `wrong` or `done`. */
	read(code: number, at: number): "more" | "done" | "wrong" {
		switch (this.#state) {
			case "string":
				return this.#inString(code);
			case "escape":
				return this.#escaped(code);
			case "hex":
				if (!isHex(code)) return "wrong";
				if (++this.#read === 4) this.#state = "string";
				return "more";
			case "word":
				if (code !== this.#word.charCodeAt(this.#read++)) return "wrong";
				if (this.#read === this.#word.length) this.#state = "after_value";
				return "more";
			case "key_or_end":
			case "key":
			case "colon":
			case "value":
			case "value_or_end":
			case "after_value":
				return this.#between(code, at);
			default: {
				const next = nextInNumber(this.#state, code);
				if (next === "wrong") return "wrong";
				this.#state = next ?? "after_value";
				return next ? "more" : this.#between(code, at);
			}
		}
	}

	#inString(code: number): "more" | "wrong" {
		if (code < 0x20) return "wrong";
		if (code === BACKSLASH) this.#state = "escape";
		if (code === QUOTE) this.#state = this.#isKey ? "colon" : "after_value";
		return "more";
	}

	#escaped(code: number): "more" | "wrong" {
		this.#read = 0;
		this.#state = code === LETTER_U ? "hex" : "string";
		return code === LETTER_U || ESCAPES.has(code) ? "more" : "wrong";
	}

	#between(code: number, at: number): "more" | "done" | "wrong" {
		if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) return "more";
		switch (this.#state) {
			case "key_or_end":
				return code === CLOSE_BRACE ? this.#close(at) : this.#beginKey(code);
			case "key":
				return this.#beginKey(code);
			case "colon":
				if (code !== COLON) return "wrong";
				this.meansJson = true;
				this.#state = "value";
				return "more";
			case "value_or_end":
				return code === CLOSE_BRACKET ? this.#close(at) : this.#beginValue(code, at);
			case "value":
				return this.#beginValue(code, at);
			default:
				return this.#afterValue(code, at);
		}
	}

	#beginKey(code: number): "more" | "wrong" {
		this.#isKey = true;
		this.#state = "string";
		return code === QUOTE ? "more" : "wrong";
	}

	#beginValue(code: number, at: number): "more" | "wrong" {
		if (code === QUOTE) {
			this.#isKey = false;
			this.#state = "string";
			return "more";
		}
		if (code === OPEN_BRACE || code === OPEN_BRACKET) {
			this.#open.push(code === OPEN_BRACE ? at : -1);
			this.#state = code === OPEN_BRACE ? "key_or_end" : "value_or_end";
			return this.#open.length > MAX_DEPTH ? "wrong" : "more";
		}
		const word = WORDS.get(code);
		if (word !== undefined) {
			this.#word = word;
			this.#read = 1;
			this.#state = "word";
			return "more";
		}
		if (code === MINUS) this.#state = "minus";
		else if (code === ZERO) this.#state = "zero";
		else if (isDigit(code)) this.#state = "digits";
		else return "wrong";
		return "more";
	}

	#afterValue(code: number, at: number): "more" | "done" | "wrong" {
		const isArray = this.#open.at(-1) === -1;
		if (code === COMMA) {
			this.#state = isArray ? "value" : "key";
			return "more";
		}
		return code === (isArray ? CLOSE_BRACKET : CLOSE_BRACE) ? this.#close(at) : "wrong";
	}

	#close(at: number): "more" | "done" {
		const start = this.#open.pop() ?? -1;
		if (start >= 0) this.#onObject({ start, end: at + 1 });
		this.#state = "after_value";
		return this.#open.length === 0 ? "done" : "more";
	}
}

/** Undefined if the number ended before this character. */
function nextInNumber(state: NumberState, code: number): NumberState | "wrong" | undefined {
	const digit = isDigit(code);
	switch (state) {
		case "minus":
			if (code === ZERO) return "zero";
			return digit ? "digits" : "wrong";
		case "zero":
		case "digits":
			if (digit) return state === "digits" ? "digits" : "wrong";
			if (code === POINT) return "point";
			return isE(code) ? "e" : undefined;
		case "point":
			return digit ? "fraction" : "wrong";
		case "fraction":
			if (digit) return "fraction";
			return isE(code) ? "e" : undefined;
		case "e":
			if (code === PLUS || code === MINUS) return "sign";
			return digit ? "exponent" : "wrong";
		case "sign":
			return digit ? "exponent" : "wrong";
		case "exponent":
			return digit ? "exponent" : undefined;
	}
}

const codeOf = (character: string) => character.charCodeAt(0);

export const OPEN_BRACE = codeOf("{");
const CLOSE_BRACE = codeOf("}");
const OPEN_BRACKET = codeOf("[");
const CLOSE_BRACKET = codeOf("]");
const QUOTE = codeOf('"');
const BACKSLASH = codeOf("\\");
const LETTER_U = codeOf("u");
const COLON = codeOf(":");
const COMMA = codeOf(",");
const MINUS = codeOf("-");
const PLUS = codeOf("+");
const POINT = codeOf(".");
const ZERO = codeOf("0");
const ESCAPES = new Set([...'"\\/bfnrt'].map(codeOf));
const WORDS = new Map(["true", "false", "null"].map((word) => [codeOf(word), word]));

function isDigit(code: number): boolean {
	return code >= 0x30 && code <= 0x39;
}

function isHex(code: number): boolean {
	return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

function isE(code: number): boolean {
	return code === 0x45 || code === 0x65;
}
