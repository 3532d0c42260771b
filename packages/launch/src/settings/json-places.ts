/**
 * Where in a JSON text its keys stand, which of them are there twice, and what keeps it from being JSON, in words for the
 * person who wrote it. `JSON.parse` says none of this reliably. Pure.
 */

export interface JsonPlaces {
	/** The line of a key, counted from 1. Undefined if the text has no such key. */
	lineOf(path: readonly string[]): number | undefined;
	/** Keys that an object has more than once: JSON keeps only the last. */
	repeated: readonly (readonly string[])[];
	/** Absent if it is JSON. */
	fault?: JsonFault;
}

interface JsonFault {
	line: number;
	why: string;
}

/** No settings nest so deep; what lies deeper has no place. */
const MAX_LEVELS = 200;

export function placesIn(text: string): JsonPlaces {
	const scan = new Scan(text);
	try {
		scan.whole();
	} catch (error) {
		if (!(error instanceof Stop)) throw error;
		return { ...scan.places(), ...(error.why === undefined ? {} : { fault: { line: scan.line, why: error.why } }) };
	}
	return scan.places();
}

/** Ends the scan: with what is wrong there, or because it goes too deep. */
class Stop extends Error {
	readonly why: string | undefined;
	constructor(why?: string) {
		super(why);
		this.why = why;
	}
}

const SPACE = /[\t\n\r ]*/y;
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const PLAIN = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

class Scan {
	readonly #text: string;
	readonly #lines = new Map<string, number>();
	readonly #repeated: string[][] = [];
	#at = 0;
	#line = 1;

	constructor(text: string) {
		this.#text = text;
	}

	whole(): void {
		this.#value([]);
		if (this.#next() !== "") throw new Stop(this.#unexpected("the text goes on after its end"));
	}

	/** The line that was reached. */
	get line(): number {
		return this.#line;
	}

	places(): JsonPlaces {
		return { lineOf: (path) => this.#lines.get(JSON.stringify(path)), repeated: this.#repeated };
	}

	#value(path: readonly string[]): void {
		const first = this.#next();
		if (path.length > MAX_LEVELS) throw new Stop();
		if (first === "{") {
			const keys = new Set<string>();
			this.#entries("}", () => this.#entry(path, keys));
		} else if (first === "[") this.#entries("]", (index) => this.#value([...path, String(index)]));
		else if (first === '"') this.#match(TEXT, "a text is not closed, or has a line break or a stray \\ in it");
		else this.#match(PLAIN, this.#unexpected("a value is missing"));
	}

	#entry(path: readonly string[], keys: Set<string>): void {
		if (this.#next() !== '"') throw new Stop(this.#unexpected("a key in double quotes is missing"));
		const line = this.#line;
		const key: string = JSON.parse(this.#match(TEXT, "a key is not closed"));
		const own = [...path, key];
		if (keys.has(key)) this.#repeated.push(own);
		keys.add(key);
		this.#lines.set(JSON.stringify(own), line);
		if (this.#next() !== ":") throw new Stop(this.#unexpected("a colon is missing after the key"));
		this.#at++;
		this.#value(own);
	}

	/** The parts of an object or a list, up to `end`. */
	#entries(end: "}" | "]", entry: (index: number) => void): void {
		this.#at++;
		for (let index = 0; index > 0 || this.#next() !== end; index++) {
			entry(index);
			const next = this.#next();
			if (next === end) break;
			if (next !== ",") throw new Stop(this.#unexpected(`a comma or "${end}" is missing`));
			this.#at++;
			const line = this.#line;
			if (this.#next() !== end) continue;
			this.#line = line; // that of the comma
			throw new Stop(`there is a comma too many before "${end}"`);
		}
		this.#at++;
	}

	/** What comes after the white space; empty at the end. */
	#next(): string {
		this.#line += this.#match(SPACE, "").split("\n").length - 1; // JSON has no line breaks elsewhere
		return this.#text.charAt(this.#at);
	}

	#match(pattern: RegExp, otherwise: string): string {
		pattern.lastIndex = this.#at;
		const [found] = pattern.exec(this.#text) ?? [];
		if (found === undefined) throw new Stop(otherwise);
		this.#at += found.length;
		return found;
	}

	/** What is there instead, where that explains more. */
	#unexpected(otherwise: string): string {
		const rest = this.#text.slice(this.#at, this.#at + 2);
		if (rest === "") return "it ends too early";
		if (rest === "//" || rest === "/*" || rest.startsWith("#")) return "it has a comment, which JSON does not allow";
		if (rest.startsWith(",")) return "there is a comma too many";
		if (rest.startsWith("'")) return "JSON needs double quotes";
		return otherwise;
	}
}
